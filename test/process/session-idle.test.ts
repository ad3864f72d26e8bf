import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { sessionMsMax } from '../../src/limits.ts'
import { sessionIdleMsMin } from '../../src/variables.ts'
import { paths } from '../../views/paths.ts'
import { visitor } from '../http/dashboard/visitor.ts'
import { cellarbook, newFolder, startedProcesses, textOf } from '../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const { start, killAll } = startedProcesses()
afterAll(async () => {
  await killAll()
  folder.remove()
})

const numberIn = (data: unknown, field: string): number => {
  const value: unknown = Reflect.get(Object(data), field)
  return typeof value === 'number' ? value : Number.NaN
}

test('a session of the program itself ends after SESSION_IDLE without use', async () => {
  const service = await start(folder.path, { environment: { SESSION_IDLE: '1m' } })
  const made = await cellarbook(['operator', 'link', '--json'], { DATA_DIR: folder.path })
  const path = paths.link(textOf(made.lines[0], 'url').split('/').at(-1) ?? '')
  const person = visitor(service.url)
  await person.get(path)
  const password = 'glacier tumble orbit pickle'
  const spent = await person.post(path, { email: 'ada@example.org', password })
  expect(spent.status).toBe(303)
  const read = await cellarbook(['log', 'read', '--type', 'OperatorSignedIn', '--json'], { DATA_DIR: folder.path })
  // The event has two times: the end of an unused session, and the end in any case. So the test compares times and need not
  // wait.
  const idleMs = read.lines.map(({ data }) => sessionMsMax - (numberIn(data, 'expiresAt') - numberIn(data, 'idleAt')))
  expect(idleMs).toEqual([sessionIdleMsMin])
  expect(await service.stop()).toBe(0)
})
