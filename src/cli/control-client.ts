import { decodeFrame, encodeOperation, socketPathOf } from './control-protocol.ts'
import { CommandFailed, exitCodes } from './exit-codes.ts'
import type { Line } from './lines.ts'
import type { End, Operation } from './operations.ts'

/**
 * Has the running service do it. `null`: no service listens there.
 * @throws CommandFailed if the answer breaks off, since what was asked for may have been done or not.
 */
export const askService = async (dataDir: string, operation: Operation): Promise<AsyncGenerator<Line, End> | null> => {
  const response = await post(socketPathOf(dataDir), operation)
  return response?.body ? answerOf(response.body) : null
}

const post = async (unix: string, operation: Operation): Promise<Response | null> => {
  try {
    return await fetch('http://cellarbook/', { method: 'POST', unix, body: encodeOperation(operation) })
  } catch (error) {
    if (isNobodyThere(error)) return null
    throw brokenOff(error)
  }
}

/** No such socket, or one that a killed process left behind. */
const isNobodyThere = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')

async function* answerOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line, End> {
  for await (const text of textLinesOf(body)) {
    const frame = decodeFrame(text)
    if (frame === null) throw ofAnotherVersion()
    if ('end' in frame) return frame.end
    yield frame.line
  }
  throw brokenOff(undefined)
}

async function* textLinesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const piece of body) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw brokenOff(error)
  }
}

const brokenOff = (cause: unknown): CommandFailed =>
  new CommandFailed(
    'The service went away before it had answered: look whether the command took effect before you repeat it',
    exitCodes.unreachable,
    { cause },
  )

const ofAnotherVersion = (): CommandFailed =>
  new CommandFailed(
    'The running service answers in words that this command line does not know: they are of different versions',
    exitCodes.refused,
  )
