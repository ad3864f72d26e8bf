import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { runProgram } from '../../src/cli/program.ts'
import { createOutput, type Output, ReaderGone } from '../../src/cli/show/output.ts'

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
  const calls = { serve: notCalled, perform: notCalled, copyLog: notCalled, verifyLog: notCalled, now: notCalled }
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
