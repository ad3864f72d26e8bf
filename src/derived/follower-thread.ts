/** Only a thread may import this file, because the code below runs at import. */
import { constants } from 'node:os'
import { openSource } from '../log/open-source.ts'
import { yieldProcessor } from '../log/verify/yield-processor.ts'
import { Follower } from './follower.ts'
import type { FromFollower } from './follower-messages.ts'
import type { FollowerConfig, ToFollowerThread } from './follower-on-thread.ts'
import { modelKindsFor } from './model-kinds.ts'
import { pacedClock } from './paced-clock.ts'

declare const self: Worker

const tell = (message: FromFollower | 'closed'): void => self.postMessage(message)

/**
 * Readings and pages go first, but the follower must not starve beside them. With this priority, it gets at least a tenth
 * of a core.
 */
const open = async (config: FollowerConfig): Promise<Follower> => {
  yieldProcessor(constants.priority.PRIORITY_BELOW_NORMAL)
  const source = await openSource(config)
  const passedMs = (): number => performance.now()
  const now = pacedClock({ now: () => Date.now(), passedMs })
  const kinds = modelKindsFor({ isShared: config.eventStore !== null })
  const follower = new Follower({ ...config, kinds, source, now, passedMs, tell })
  follower.run().then(() => tell('closed'), endThread)
  return follower
}

/** Thrown in a later turn, where no promise catches it. */
const endThread = (bug: unknown): void => {
  setImmediate(() => {
    throw bug
  })
}

let opened: Promise<Follower> | null = null

self.onmessage = ({ data }: MessageEvent<ToFollowerThread>): void => {
  if (data.kind === 'open') {
    opened = open(data.config)
    opened.catch(endThread)
    return
  }
  // Messages that come while the source is opened wait for it.
  opened?.then((follower) => (data.kind === 'close' ? follower.close() : follower.receive(data))).catch(endThread)
}
