import type { LogItem } from '../../domain/reading/recorded-run.ts'
import { groupsUnderWayMax } from '../../limits.ts'
import { AppendFigures } from '../append-figures.ts'
import type { AppendResult, Outage } from '../event-log.ts'
import { QueueRoom } from '../queue-room.ts'
import type { EncodedAppend, StagedAppend } from './sqlite-staging.ts'

export type Waiting = EncodedAppend & {
  readonly isTraffic: boolean
  resolve(result: AppendResult): void
  reject(cause: unknown): void
}

export type WaitingGroup = { appends: readonly Waiting[] }

export type WaitingParts = {
  /** Commits and answers the group, and never rejects. It answers only after `before`: the group before it is answered. */
  write(group: WaitingGroup, before: Promise<void>): Promise<void>
  /** False while a failed commit gives the groups under way new positions: a new group must get later ones. */
  mayStart(): boolean
}

/**
 * While `groupsUnderWayMax` groups are under way, appends wait here. All that wait then share the next commit
 * (docs/decisions/008-commits-in-groups-on-a-thread.md).
 */
export class WaitingAppends {
  readonly #parts: WaitingParts
  readonly figures = new AppendFigures()
  #queue: Waiting[] = []
  #waitingSinceMs = 0
  #room = new QueueRoom()
  #underWay = 0
  /** Resolves when the newest group is answered. */
  #lastGroup: Promise<void> = Promise.resolve()

  constructor(parts: WaitingParts) {
    this.#parts = parts
  }

  get room(): QueueRoom {
    return this.#room
  }

  get groupsUnderWay(): number {
    return this.#underWay
  }

  add(append: Waiting): void {
    this.#queue.push(append)
    // In a microtask, to include all appends of the current callback.
    if (this.#queue.length > 1) return
    this.#waitingSinceMs = performance.now()
    queueMicrotask(() => this.#startNextGroup())
  }

  async drained(): Promise<void> {
    this.#startNextGroup()
    while (this.#underWay > 0) await this.#lastGroup
  }

  #startNextGroup(): void {
    if (this.#queue.length === 0 || this.#underWay >= groupsUnderWayMax) return
    if (this.#underWay > 0 && !this.#parts.mayStart()) return
    const appends = this.#queue
    const answered = this.figures.sent(this.#room.events, this.#waitingSinceMs, performance.now())
    this.#queue = []
    this.#room = new QueueRoom()
    this.#underWay += 1
    this.#lastGroup = this.#parts.write({ appends }, this.#lastGroup).then(() => {
      answered(performance.now())
      this.#underWay -= 1
      this.#startNextGroup()
    })
  }
}

/**
 * On a full disk, a revocation can fit without the readings of its group. So readings, and summaries of refused ones, are
 * rejected, and the rest is committed again. False: nothing is left.
 */
export const refuseReadings = (group: WaitingGroup, full: Outage): boolean => {
  const changes = group.appends.filter(({ isTraffic }) => !isTraffic)
  if (changes.length === 0 || changes.length === group.appends.length) return false
  for (const append of group.appends) if (append.isTraffic) append.reject(full)
  group.appends = changes
  return true
}

export const recordedBy = (staged: StagedAppend): readonly LogItem[] => ('recorded' in staged ? staged.recorded : [])

export const answer = (append: Waiting | undefined, staged: StagedAppend): void => {
  if ('fault' in staged) append?.reject(staged.fault)
  else append?.resolve(staged.result)
}
