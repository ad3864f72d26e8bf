import { afterAll, afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { type Heard, judge, removeFolder } from '../../fuzz/damage/judge.ts'
import { type MadeFolders, makeFolders, writeFiles } from '../../fuzz/damage/made-folders.ts'
import { type Answers, askOverHttp } from '../../fuzz/damage/questions.ts'
import { isPassing, Results } from '../../fuzz/damage/results.ts'
import { damagedCopy } from '../../fuzz/damage/trial.ts'
import { cellarbook, newFolder, type ServiceProcess, startedProcesses } from '../../support/cellarbook.ts'
import { timesToTry } from '../../support/long-trials.ts'

const count = timesToTry(12, 60)
const firstSeed = Number(process.env['DAMAGE_SEED'] ?? 2_000)

setDefaultTimeout(300_000 + count * 25_000)

const folder = newFolder()
afterAll(() => folder.remove())
const processes = startedProcesses()
afterEach(processes.killAll)

const embedded = { EVENTSTORE_URL: '' }

type Truth = { readonly last: number; readonly answers: Answers | null }

/** `last`: only events up to this position are compared, because the questions have stored more. */
const hear = async (dataDir: string, made: MadeFolders, { last, answers }: Truth): Promise<Heard> => {
  const nothing = { warnings: [], bugs: [], troubles: [], served: new Map(), read: new Map(), checked: null }
  const heard = { ...nothing, refusal: null }
  let service: ServiceProcess
  try {
    service = await processes.start(dataDir, { environment: embedded })
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause)
    const isTold = /^the service ended with (69|78): [^\n]*\n?$/.test(text)
    return isTold ? { ...heard, refusal: text } : { ...heard, bugs: [text] }
  }
  const served = await askOverHttp(service.url, made, { times: false })
  const read = await readLog(dataDir, last)
  const before = { ...heard, ...toldIn(service), served, read }
  // The check begins seconds after the start, so only the trials that need it wait for it.
  const isEnough = answers !== null && isPassing(judge(before, answers))
  if (!isEnough) await service.untilStdout(/"msg":"the log (was|could not be) checked/)
  await processes.killAll()
  return { ...before, ...toldIn(service) }
}

/** What the check tells is no trouble, because it comes after the answers. */
const toldIn = (service: ServiceProcess): Pick<Heard, 'bugs' | 'troubles' | 'warnings' | 'checked'> => {
  const lines = service.stdout().split('\n')
  const isOfCheck = (line: string): boolean => line.includes('the log was checked')
  return {
    bugs: lines.filter((line) => line.includes('a bug was caught')),
    troubles: lines.filter((line) => line.includes('"level":"error"') && !isOfCheck(line)),
    warnings: lines.filter((line) => line.includes('"level":"warn"')),
    checked: lines.find((line) => line.includes('"level":"error"') && isOfCheck(line)) ?? null,
  }
}

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
  const sound = await hear(dataDir, made, { last, answers: null })
  expect([sound.refusal, sound.checked, sound.warnings, sound.bugs, sound.troubles]).toEqual([null, null, [], [], []])
  const answers: Answers = new Map([...sound.served, ...sound.read])

  const results = new Results()
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const trial = damagedCopy(made, folder.path, seed)
    results.add(trial, judge(await hear(trial.dataDir, made, { last, answers }), answers))
    removeFolder(trial.dataDir)
  }
  console.log(results.table())
  expect(results.failed).toEqual([])
})
