import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { openCore } from '../../src/actors/open-core.ts'
import type { ProgramDeps } from '../../src/cli/commands/runner.ts'
import { perform } from '../../src/cli/control/operations.ts'
import { CommandFailed, type End } from '../../src/cli/exit-codes.ts'
import { runProgram } from '../../src/cli/program.ts'
import type { Line } from '../../src/cli/show/lines.ts'
import { createOutput, type Output, ReaderGone } from '../../src/cli/show/output.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { seededEntropy } from '../support/seeded-entropy.ts'
import { testAsker } from '../support/test-service.ts'
import { manualClock } from '../support/time/manual-clock.ts'

const failingOutput = (code: string, message: string): Output => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(message), { code })),
    highWaterMark: 1,
  })
  return createOutput(stream as never)
}

/** Writes to a stream until the stream reports this error. */
const failureOf = async (code: string, message: string): Promise<unknown> =>
  failingOutput(code, message)
    .write('a line\n')
    .catch((error: unknown) => error)

test('a full disk behind stdout ends the command with a message and exit code 1', async () => {
  const message = 'Cannot write the result: no space left on device'
  expect(await failureOf('ENOSPC', 'no space left on device')).toMatchObject({
    name: 'CommandFailed',
    exitCode: 1,
    message,
  })
})

test('a reader that closes the pipe is no failure', async () => {
  expect(await failureOf('EPIPE', 'broken pipe')).toBeInstanceOf(ReaderGone)
})

const notCalled = (): never => {
  throw new Error('A help text needs none of this')
}

/** Runs a command that only writes a text. Returns its exit code and what it wrote to stderr. */
const runWith = async (words: readonly string[], output: Output): Promise<readonly [number, string]> => {
  let told = ''
  const screen = {
    write: (text: string) => {
      told += text
    },
  }
  const calls = {
    serve: notCalled,
    checkFiles: notCalled,
    perform: notCalled,
    copyLog: notCalled,
    verifyLog: notCalled,
    backup: notCalled,
    checkBackup: notCalled,
    restore: notCalled,
    now: notCalled,
  }
  return [await runProgram(words, { version: '0', environment: {}, output, screen, ...calls }), told]
}

test.each([[['help']], [['help', 'key', 'create']], [['key', '--help']], [['--version']]])(
  '%p fails if its text cannot be written',
  async (words) => {
    expect(await runWith(words, failingOutput('ENOSPC', 'no space left'))).toEqual([
      1,
      'cellarbook: Cannot write the result: no space left\n',
    ])
    expect(await runWith(words, failingOutput('EPIPE', 'broken pipe'))).toEqual([0, ''])
  },
)

test('key rotate shows each new key as it comes', async () => {
  const core = await openCore({ log: createMemoryLog(), clock: manualClock(), entropy: seededEntropy() })
  await core.cellars.create({ cellar: 'berlin', title: '' }, testAsker)
  const made = { cellar: 'berlin', label: 'press', note: '', limit: null, expiresAt: null }
  for (let keys = 0; keys < 2; keys += 1) await core.keys.create(made, testAsker)
  const shown: string[] = []
  const output: Output = { write: async (text) => void shown.push(text), flush: async () => {} }
  const deps: ProgramDeps = {
    version: '0',
    environment: {},
    output,
    screen: { write: () => {} },
    now: () => 0,
    serve: notCalled,
    checkFiles: notCalled,
    copyLog: notCalled,
    verifyLog: notCalled,
    backup: notCalled,
    checkBackup: notCalled,
    restore: notCalled,
    perform: async (_, operation) =>
      endingEarly(perform(operation, { questions: core.questions, core: async () => core, linkUrl: String })),
  }
  expect(await runProgram(['key', 'rotate', '--all-matching', '--yes'], deps)).toBe(69)
  expect(shown.join('')).toMatch(/^key +clr_/m)
})

async function* endingEarly(answer: AsyncGenerator<Line, End>): AsyncGenerator<Line, End> {
  const first = await answer.next()
  if (!first.done) yield first.value
  throw new CommandFailed('The connection broke off', 69)
}
