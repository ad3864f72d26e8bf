import { lstatSync, type Stats } from 'node:fs'
import { CommandFailed, type End, exitCodes } from '../exit-codes.ts'
import type { Line } from '../show/lines.ts'
import { decodeFrame, encodeOperation, socketPathOf } from './control-protocol.ts'
import type { Operation } from './operations.ts'

/**
 * Has the running service do it. `null`: no service listens there. Nothing is sent to a socket that another user made: that
 * user would learn the command, and could answer anything.
 * @throws CommandFailed if the data folder can't be used; and if the answer breaks off, since what was asked for may have
 * been done or not.
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

/** Looks at the path itself, not at the target of a link. If that fails, opening the socket says why. */
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
    // Without the five minutes after which Bun gives up on a silent answer: `log read --type` of a rare type says nothing for
    // as long as it finds nothing.
    return await fetch('http://cellarbook/', { method: 'POST', unix, body, timeout: false })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (nobodyThere.has(code)) return null
    const unfit = unfitFolder.get(code)
    if (unfit !== undefined) throw unusable(dataDir, unfit, error)
    throw brokenOff(error)
  }
}

/** No such socket, or one that a killed process left behind. */
const nobodyThere: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED'])

/** Why a socket in that folder can't even be looked for: nothing has been sent then. */
const unfitFolder: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'it is not a folder'],
  ['EACCES', 'this user may not use it'],
  ['ELOOP', 'its links lead in a circle'],
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
  new CommandFailed('The command is too long for the running service, which has not taken it', exitCodes.refused)

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
