/**
 * This thread writes and checks `ask.db`. On the event loop, its inserts and fsyncs would delay every request. Only a thread may
 * import this file, because the code below runs at import.
 */
import { Database, SQLiteError } from 'bun:sqlite'
import { askWriterCacheKib, checkRestFactor, storeBusyMsMax } from '../../limits.ts'
import { AskUnusable } from '../ask-index.ts'
import { isPassing } from '../sqlite/sqlite-faults.ts'
import { yieldProcessor } from '../verify/yield-processor.ts'
import { AskChanges } from './ask-changes.ts'
import type { AskFault, FromAskThread, ToAskThread } from './ask-writer.ts'
import { checkAskFile } from './check-ask-file.ts'
import { type PackedPart, unpackedPart } from './packed-change.ts'

declare const self: Worker

let opened: ReturnType<typeof open> | null = null
let isChecking = false
let isClosing = false
let endRest = (): void => {}

self.onmessage = ({ data }: MessageEvent<ToAskThread>): void => {
  if (data.kind === 'open') {
    // Linux does not let an ordinary process raise the priority of a thread again. So it stays low after a check.
    yieldProcessor()
    opened = open(data.path)
    return
  }
  if (opened === null) throw new Error(`Cannot ${data.kind}: the thread has no file yet`)
  const { changes } = opened
  if (data.kind === 'write') tell({ kind: 'written', fault: faultOf(() => write(changes, data.part)) })
  else if (data.kind === 'check') void check(data.path)
  else {
    isClosing = true
    endRest()
    if (!isChecking) close()
  }
}

/**
 * Collects the garbage of a large change after each part. A row leaves about 1 KB, and without this, the heap of the thread grows
 * by 4 MiB. Each collection takes one or two milliseconds.
 */
const write = (changes: AskChanges, part: PackedPart): void => {
  changes.write(unpackedPart(part))
  if (!part.isLast) Bun.gc(true)
}

const close = (): void => {
  opened?.close()
  opened = null
  tell('closed')
}

const tell = (message: FromAskThread | 'closed'): void => self.postMessage(message)

/**
 * With `synchronous = NORMAL`, a power failure can lose the last changes. `foldedTo` is written in the same transaction as the
 * rows. So after a loss, the file names an older event, and the node reads the log again from there.
 */
const open = (path: string) => {
  const database = new Database(path)
  database.run(`PRAGMA busy_timeout = ${storeBusyMsMax}`)
  database.run('PRAGMA synchronous = NORMAL')
  database.run(`PRAGMA cache_size = -${askWriterCacheKib}`)
  const changes = new AskChanges(database)
  const close = (): void => {
    changes.close()
    database.close(true)
  }
  return { changes, close }
}

/** Writes come through between two steps. The check reads the file as it was at the beginning. */
const check = async (path: string): Promise<void> => {
  isChecking = true
  tell({ kind: 'checked', fault: await damageOf(path) })
  isChecking = false
  if (isClosing) close()
}

/** Returns `null` if the file is sound, or if the service stops before the end of the check. */
const damageOf = async (path: string): Promise<AskFault | null> => {
  using steps = checkAskFile(path)
  let isDone = false
  let fault: AskFault | null = null
  while (!isDone && !isClosing) {
    const beganAtMs = performance.now()
    fault = faultOf(() => {
      isDone = steps.next().done === true
    })
    if (fault !== null) return fault
    await rest((performance.now() - beganAtMs) * checkRestFactor)
  }
  return null
}

const rest = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    endRest = () => {
      clearTimeout(timer)
      resolve()
    }
  })

const faultOf = (use: () => void): AskFault | null => {
  try {
    use()
    return null
  } catch (cause) {
    if (cause instanceof AskUnusable) return { why: cause.message, isPassing: false }
    if (!(cause instanceof SQLiteError)) throw cause
    return { why: cause.message, isPassing: isPassing(cause) }
  }
}
