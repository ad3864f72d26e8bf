import { lstatSync, type Stats } from 'node:fs'
import { CommandFailed, type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { decodeFrame, encodeOperation, socketPathOf } from './control-protocol.ts'
import type { Operation } from './operations.ts'

/** A start asks the socket of a held data folder for this time at most. */
const servedAnswerMsMax = 1_000

/**
 * `null`: no service listens. Sends nothing to a socket of another user (root is trusted), who could read the command and
 * fake the answer. @throws CommandFailed, for example if the answer ends early. Then nobody knows whether the change is
 * stored.
 */
export const askService = async (
  dataDir: string,
  operation: Operation,
  look = lookAt,
): Promise<AsyncGenerator<Line, End> | null> => {
  assertOwnSocket(socketPathOf(dataDir), look)
  const response = await post(dataDir, encodeOperation(operation))
  if (response?.status === 413) throw tooLong()
  return response?.body ? answerOf(response.body) : null
}

/** Also true if the process does not answer. */
export const isServed = async (dataDir: string): Promise<boolean> => {
  try {
    const signal = AbortSignal.timeout(servedAnswerMsMax)
    await fetch('http://cellarbook/', { method: 'POST', unix: socketPathOf(dataDir), signal })
    return true
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
  }
}

type Look = (path: string) => Pick<Stats, 'uid' | 'isSocket'> | null

const assertOwnSocket = (path: string, look: Look): void => {
  const socket = look(path)
  const userId = process.geteuid?.()
  if (socket === null || userId === undefined) return
  const untrusted = (why: string): CommandFailed =>
    new CommandFailed(`Cannot trust "${path}", so nothing was sent: ${why}`, exitCodes.configuration)
  if (!socket.isSocket()) throw untrusted('it is not a socket. Remove it')
  if (socket.uid === userId || socket.uid === rootId) return
  throw untrusted(
    `it belongs to user ${socket.uid}, and this command runs as user ${userId}. Run it as user ${socket.uid}`,
  )
}

const rootId = 0

/**
 * `null`: the path cannot be read. Opening the socket then fails too, and says why. A symbolic link in the place of the
 * socket is refused.
 */
const lookAt: Look = (path) => {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

const post = async (dataDir: string, body: string): Promise<Response | null> => {
  const unix = socketPathOf(dataDir)
  try {
    // `log read` can be silent for long while it looks for a rare event. By default, `fetch` waits only 5 minutes.
    return await fetch('http://cellarbook/', { method: 'POST', unix, body, timeout: false })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (nobodyThere.has(code)) return null
    const unfit = unfitFolder.get(code)
    if (unfit !== undefined) throw unusable(dataDir, unfit, error)
    throw brokenOff(error)
  }
}

/** ECONNREFUSED: a killed process has left its socket behind. */
const nobodyThere: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED'])

/** With these codes, the operation was not sent. */
const unfitFolder: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'it is not a folder'],
  ['EACCES', 'this user has no permission to use it'],
  ['ELOOP', 'its symbolic links form a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
])

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

const unusable = (dataDir: string, why: string, cause: unknown): CommandFailed =>
  new CommandFailed(`Cannot use the data folder "${dataDir}": ${why}`, exitCodes.configuration, { cause })

const tooLong = (): CommandFailed =>
  new CommandFailed('Cannot run the command: it is too long for the running service', exitCodes.refused)

const brokenOff = (cause: unknown): CommandFailed =>
  new CommandFailed(
    'Cannot tell if the command took effect: the service ended before it answered. Check before you repeat it',
    exitCodes.unreachable,
    { cause },
  )

const ofAnotherVersion = (): CommandFailed =>
  new CommandFailed(
    'Cannot read the answer of the running service: it has another version. Use the same version for both',
    exitCodes.refused,
  )
