import { rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { cutOffWords } from '../../export/running-export.ts'
import { drainMsMax } from '../../limits.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { decodeOperation, encodeFrame, type Frame, socketPathOf } from './control-protocol.ts'
import { type OperationContext, perform } from './operations.ts'

/** Size of one command as JSON. Every command line is shorter, so this bound refuses no real command. */
export const operationBytesMax = 8 * 1024 * 1024
/** A line of an answer that waits for further lines is sent after this time. */
const lineWaitMs = 50

export type ControlServer = {
  stop(): Promise<void>
}

export type ControlServerOptions = {
  readonly dataDir: string
  readonly context: OperationContext
  /** The client is told only that there was a bug. */
  onBug(error: unknown): void
  /** The socket cannot be removed, for example on a read-only disk. */
  onLeft?(why: string): void
}

/**
 * Bun does not tell which user connects, so every client is trusted. The modes of the socket (0600) and of the folder keep
 * other users out. @throws CommandFailed if the socket cannot be created
 */
export const startControlServer = ({ dataDir, context, onBug, onLeft }: ControlServerOptions): ControlServer => {
  const path = socketPathOf(dataDir)
  // Other users could connect before a later chmod.
  const maskBefore = process.umask(0o177)
  try {
    // This process holds the lock of the data folder, so an existing socket belongs to a killed process.
    removeIfThere(path)
    const stopping = new AbortController()
    const server = listen(path, { context, onBug, stopping: stopping.signal })
    return {
      stop: async () => {
        stopping.abort(cutOffWords.serviceStopped)
        await Promise.race([server.stop(), wait(drainMsMax, undefined, { ref: false })])
        await server.stop(true)
        try {
          removeIfThere(path)
        } catch (cause) {
          if (!isSystemError(cause)) throw cause
          onLeft?.(cause.message)
        }
      },
    }
  } catch (cause) {
    if (!isSystemError(cause)) throw cause
    throw new CommandFailed(`Cannot create "${path}": ${cause.message}`, exitCodes.configuration, { cause })
  } finally {
    process.umask(maskBefore)
  }
}

type Listening = Pick<ControlServerOptions, 'context' | 'onBug'> & { readonly stopping: AbortSignal }

const listen = (path: string, { context, onBug, stopping }: Listening) =>
  Bun.serve({
    unix: path,
    maxRequestBodySize: operationBytesMax,
    ...neverIdle,
    development: false,
    fetch: async (request) => {
      const operation = decodeOperation(await request.text())
      if (operation === null) return new Response(encodeFrame(notUnderstood))
      const left = new AbortController()
      const signal = AbortSignal.any([left.signal, stopping])
      return new Response(bodyOf(framesOf(perform(operation, context, signal), onBug), left))
    },
  })

/**
 * A pager like `less` can stop reading for hours. Bun ends a silent answer after 10 s, even with `server.timeout(request,
 * 0)`. Bun's types allow `idleTimeout` only for a server on a port.
 */
const neverIdle: object = { idleTimeout: 0 }

const notUnderstood: Frame = {
  end: {
    exitCode: exitCodes.refused,
    message: 'Cannot run the command: the running service has another version. Use the same version for both',
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
    const message = 'Cannot finish the command: the service has a bug. Its log lines say where'
    yield encodeFrame({ end: { exitCode: exitCodes.refused, message } })
  }
}

const pieceCharsMin = 32 * 1024

/**
 * Produces frames only as fast as the client reads, so that a slow client does not fill the memory. `left` is aborted when
 * the client has closed the connection.
 */
const bodyOf = (frames: AsyncGenerator<string, void>, left: AbortController): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let next: ReturnType<typeof frames.next> | null = null
  return new ReadableStream({
    pull: async (controller) => {
      let piece = ''
      let waited: Promise<null> | null = null
      while (piece.length < pieceCharsMin) {
        next ??= frames.next()
        if (piece !== '') waited ??= wait(lineWaitMs, null, { ref: false })
        const step = await (waited === null ? next : Promise.race([next, waited]))
        if (step === null) break
        next = null
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
      left.abort(cutOffWords.clientLeft)
      await frames.return()
    },
  })
}

const isSystemError = (cause: unknown): cause is Error => cause instanceof Error && 'code' in cause

const removeIfThere = (path: string): void => rmSync(path, { force: true })
