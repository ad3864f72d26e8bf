import { rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { drainMsMax, operationBytesMax } from '../../limits.ts'
import { exitCodes } from '../exit-codes.ts'
import { decodeOperation, encodeFrame, type Frame, socketPathOf } from './control-protocol.ts'
import { type OperationContext, perform } from './operations.ts'

export type ControlServer = {
  /** Resolves when the commands under way have been answered, or have had their time. */
  stop(): Promise<void>
}

export type ControlServerOptions = {
  readonly dataDir: string
  readonly context: OperationContext
  /** Told of a bug in an operation: the one who asked learns only that there was one. */
  onBug(error: unknown): void
}

/**
 * Answers operations on a socket that only the owner of the data folder can open. Everybody who opens it is trusted: Bun does
 * not tell which user is at the other end. The modes of the socket (0600) and of the folder keep others out.
 */
export const startControlServer = ({ dataDir, context, onBug }: ControlServerOptions): ControlServer => {
  const path = socketPathOf(dataDir)
  // The log's lock is ours, so a socket found here is what a killed process left behind.
  removeIfThere(path)
  // The mode is set by the mask at creation: a chmod afterwards would leave a moment in which anyone could connect.
  const maskBefore = process.umask(0o177)
  try {
    const server = listen(path, context, onBug)
    return {
      stop: async () => {
        await Promise.race([server.stop(), wait(drainMsMax, undefined, { ref: false })])
        await server.stop(true)
        removeIfThere(path)
      },
    }
  } finally {
    process.umask(maskBefore)
  }
}

const listen = (path: string, context: OperationContext, onBug: (error: unknown) => void) =>
  Bun.serve({
    unix: path,
    maxRequestBodySize: operationBytesMax,
    ...neverIdle,
    development: false,
    fetch: async (request) => {
      const operation = decodeOperation(await request.text())
      if (operation === null) return new Response(encodeFrame(notUnderstood))
      return new Response(bodyOf(framesOf(perform(operation, context), onBug)))
    },
  })

/**
 * A log read into a pager waits for as long as its reader does. `server.timeout(request, 0)` does not see to that: what holds
 * for an answer under way is the server's own time, 10 s if none is given. (An `object`, since the types of Bun know the
 * option for a port alone.)
 */
const neverIdle: object = { idleTimeout: 0 }

const notUnderstood: Frame = {
  end: {
    exitCode: exitCodes.refused,
    message: 'The running service does not know this command: it is of another version than the command line',
  },
}

async function* framesOf(
  performed: ReturnType<typeof perform>,
  onBug: (error: unknown) => void,
): AsyncGenerator<string, void> {
  try {
    while (true) {
      const step = await performed.next()
      yield encodeFrame(step.done ? { end: step.value } : { line: step.value })
      if (step.done) return
    }
  } catch (error) {
    onBug(error)
    const message = 'The service failed at this command; its log says where'
    yield encodeFrame({ end: { exitCode: exitCodes.refused, message } })
  }
}

const pieceCharsMin = 32 * 1024

/** Frames in pieces, made only as fast as they are read; when the reader goes away, no more are made. */
const bodyOf = (frames: AsyncGenerator<string, void>): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async (controller) => {
      let piece = ''
      while (piece.length < pieceCharsMin) {
        const step = await frames.next()
        if (step.done) {
          if (piece !== '') controller.enqueue(encoder.encode(piece))
          controller.close()
          return
        }
        piece += step.value
      }
      controller.enqueue(encoder.encode(piece))
    },
    cancel: async () => {
      await frames.return()
    },
  })
}

const removeIfThere = (path: string): void => rmSync(path, { force: true })
