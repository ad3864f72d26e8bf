import type { SourceConfig } from '../log/open-source.ts'
import { WorkerThread } from '../worker-thread.ts'
import type { FollowerParts } from './follower.ts'
import type { FollowerEvents, FollowerHandle, FromFollower, ToFollower } from './follower-messages.ts'

export type FollowerConfig = SourceConfig & Pick<FollowerParts, 'logId' | 'copiedMs'>

export type ToFollowerThread = ToFollower | { readonly kind: 'open'; readonly config: FollowerConfig }

export const followOnThread =
  (config: FollowerConfig) =>
  ({ onMessage, onFault }: FollowerEvents): FollowerHandle => {
    const thread = new WorkerThread<ToFollowerThread, FromFollower>({
      module: new URL('./follower-thread.ts', import.meta.url),
      hasSmallHeap: true,
      onMessage,
      onFault: (why) => {
        thread.end()
        onFault(why)
      },
    })
    thread.post({ kind: 'open', config })
    return { post: (message) => thread.post(message), close: () => thread.close({ kind: 'close' }) }
  }
