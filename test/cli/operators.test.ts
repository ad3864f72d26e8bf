import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cellarbook, newFolder, type Ran, type ServiceProcess, startProcess } from '../support/cellarbook.ts'
import { openLogOf } from '../support/engine.ts'
import { addOperators, emailOf } from '../support/operators.ts'

// Each command is a process of its own.
setDefaultTimeout(60_000)

const ways = [
  { way: 'with the service running', isServing: true },
  { way: 'without a service, on the log itself', isServing: false },
] as const

describe.each(ways)('cellarbook operator $way', ({ isServing }) => {
  const folder = newFolder()
  let service: ServiceProcess | null = null
  const run = (...words: string[]): Promise<Ran> => cellarbook(['operator', ...words], { DATA_DIR: folder.path })
  const json = async (...words: string[]): Promise<Ran> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    return ran
  }
  /** Refused in one sentence, with nothing on stdout. */
  const refusal = async (...words: string[]): Promise<string> => {
    const ran = await run(...words, '--json')
    expect([ran.exitCode, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
    return ran.stderr
  }

  beforeAll(async () => {
    const log = await openLogOf(folder.path)
    await addOperators(log, Date.now())
    await log.close()
    if (isServing) service = await startProcess(folder.path)
  })
  afterAll(async () => {
    await service?.stop()
    folder.remove()
  })

  test('link makes none for nobody by name once there is an operator, and says how to name one', async () => {
    for (const role of [[], ['--role', 'admin']]) {
      expect(await refusal('link', ...role)).toContain('must say whose it is: bun run cellarbook operator link --email')
    }
  })

  test('link keeps the role of who is there, and refuses another instead of dropping it', async () => {
    const link = ['link', '--email', emailOf.admin.toUpperCase()]
    expect((await json(...link)).lines).toMatchObject([{ role: 'admin' }])
    expect((await json(...link, '--role', 'admin')).lines).toMatchObject([{ role: 'admin' }])
    expect(await refusal(...link, '--role', 'auditor')).toContain('is an admin, and a link leaves the role as it is')
    expect((await json('link', '--email', 'new@example.org')).lines).toMatchObject([{ role: 'auditor' }])
    expect((await json('link', '--email', 'new@example.org', '--role', 'admin')).lines).toMatchObject([
      { role: 'admin' },
    ])
  })
})
