import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Heard, judge, removeFolder } from '../../fuzz/damage/judge.ts'
import { type MadeFolders, makeFolders, writeFiles } from '../../fuzz/damage/made-folders.ts'
import { type Answers, askOverHttp } from '../../fuzz/damage/questions.ts'
import { Results } from '../../fuzz/damage/results.ts'
import { damagedCopy } from '../../fuzz/damage/trial.ts'
import { cellarbook, newFolder, startedProcesses } from '../../support/cellarbook.ts'
import { timesToTry } from '../../support/long-trials.ts'

const count = timesToTry(12, 60)
const firstSeed = Number(process.env['DAMAGE_SEED'] ?? 2_000)

setDefaultTimeout(60_000 + count * 5_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }

const hear = async (dataDir: string, made: MadeFolders, last: number): Promise<Heard> => {
  const heard = { refusal: null, warnings: [], bugs: [], troubles: [], served: new Map(), read: new Map() }
  let service: Awaited<ReturnType<typeof processes.start>>
  try {
    service = await processes.start(dataDir, { environment: embedded })
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause)
    const isTold = /^the service ended with (69|78): [^\n]*\n?$/.test(text)
    return isTold ? { ...heard, refusal: text } : { ...heard, bugs: [text] }
  }
  const served = await askOverHttp(service.url, made, { times: false })
  const read = await readLog(dataDir, last)
  await processes.killAll()
  const lines = service.stdout().split('\n')
  return {
    ...heard,
    bugs: lines.filter((line) => line.includes('a bug was caught')),
    troubles: lines.filter((line) => /"level":"error"/.test(line)),
    warnings: lines.filter((line) => /"level":"warn"/.test(line)),
    served,
    read,
  }
}

/** `last`: only events up to this position are compared, because the questions have stored more. */
const readLog = async (dataDir: string, last: number): Promise<Answers> => {
  const { exitCode, lines, stderr } = await cellarbook(['log', 'read', '--json'], { DATA_DIR: dataDir, ...embedded })
  const known = lines.filter(({ position }) => Number(position) <= last)
  const answer = exitCode === 0 ? { said: JSON.stringify(known) } : { refused: `${exitCode}: ${stderr}` }
  return new Map([['log read', answer]])
}

const lastPositionIn = async (dataDir: string): Promise<number> => {
  const { lines } = await cellarbook(['log', 'read', '--json'], { DATA_DIR: dataDir, ...embedded })
  return Number(lines.at(-1)?.['position'])
}

test(`a started service never serves a damaged folder in silence, in ${count} trials`, async () => {
  console.log(`DAMAGE_SEED=${firstSeed} repeats these trials`)
  const made = await makeFolders(folder.path, Date.now())
  const dataDir = join(folder.path, 'sound')
  writeFiles(dataDir, made.files.killed)
  const last = await lastPositionIn(dataDir)
  const sound = await hear(dataDir, made, last)
  expect([sound.refusal, sound.warnings, sound.bugs, sound.troubles]).toEqual([null, [], [], []])
  const truth: Answers = new Map([...sound.served, ...sound.read])

  const results = new Results()
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const trial = damagedCopy(made, folder.path, seed)
    results.add(trial, judge(await hear(trial.dataDir, made, last), truth))
    removeFolder(trial.dataDir)
  }
  console.log(results.table())
  expect(results.failed).toEqual([])
})
