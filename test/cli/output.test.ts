import { expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { createOutput, ReaderGone } from '../../src/cli/show/output.ts'

/** Writes to a stream until the stream reports this error. */
const failureOf = async (code: string, message: string): Promise<unknown> => {
  const stream = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(message), { code })),
    highWaterMark: 1,
  })
  const output = createOutput(stream as never)
  return output.write('a line\n').catch((error: unknown) => error)
}

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
