import { Trouble } from '../domain/trouble.ts'
import { overloadedLooksMin, troubleCalmLooks } from '../limits.ts'
import { type LogTrouble, type LogTroubleKind, Outage } from './event-log.ts'
import type { QueueRoom, Share } from './queue-room.ts'

/** A failed fsync is reported for an hour, although its retry succeeded. */
export const survivedFsyncLooks = 3_600

export class LogTroubles {
  readonly #full = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks })
  readonly #unreadable = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: troubleCalmLooks })
  readonly #unwritable: Trouble
  #damage: string | null = null
  readonly #overloaded = new Trouble({ beginsAfterLooks: overloadedLooksMin, endsAfterLooks: overloadedLooksMin })
  readonly #survivedFsync = new Trouble({ beginsAfterLooks: 0, endsAfterLooks: survivedFsyncLooks })

  /** Calls of `look` in a row before failing writes are reported: elections of EventStoreDB need no report. 0: at once. */
  constructor({ writesFailForLooks }: { readonly writesFailForLooks: number }) {
    this.#unwritable = new Trouble({ beginsAfterLooks: writesFailForLooks, endsAfterLooks: troubleCalmLooks })
  }

  /** `more` holds troubles that the caller has found, such as little disk space. */
  list(more: Readonly<Partial<Record<LogTroubleKind, string | null>>> = {}): readonly LogTrouble[] {
    const reasons: readonly (readonly [LogTroubleKind, string | null])[] = [
      ['full', more.full ?? this.#full.why],
      ['unreadable', this.#unreadable.why],
      ['damaged', this.#damage],
      ['unwritable', this.#unwritable.why],
      ['overloaded', this.#overloaded.why],
      ['space_unknown', more.space_unknown ?? null],
      ['unwitnessed', more.unwitnessed ?? null],
      ['wal_held', more.wal_held ?? null],
      ['survived_fsync', this.#survivedFsync.why],
    ]
    return reasons.flatMap(([kind, why]) => (why === null ? [] : [{ kind, why }]))
  }

  get isUnreadable(): boolean {
    return this.#unreadable.why !== null
  }

  appendFailed(reason: Outage['reason'], why: string): void {
    if (reason === 'full') this.#full.note(why)
    if (reason === 'unavailable') this.#unwritable.note(why)
    if (reason === 'overloaded') this.#overloaded.note(why)
  }

  /** If the queue has no room, notes the trouble `overloaded`. @throws Outage */
  takeRoom(room: QueueRoom, stream: string, share: Share): void {
    try {
      room.take(stream, share)
    } catch (cause) {
      if (cause instanceof Outage) this.appendFailed(cause.reason, cause.message)
      throw cause
    }
  }

  written({ hasReadings }: { readonly hasReadings: boolean }): void {
    this.#unwritable.end()
    if (hasReadings) this.#full.end()
  }

  survivedFsync(why: string): void {
    this.#survivedFsync.note(why)
  }

  readFailed(why: string): void {
    this.#unreadable.note(why)
  }

  /** Keeps the first damage, because later damage often follows from it. */
  damaged(why: string): void {
    this.#damage ??= why
  }

  cameBack(): void {
    this.#unwritable.end()
    this.#unreadable.end()
  }

  /** Call this every `troubleLookMs`: each call is one check. */
  look(): void {
    this.#full.look()
    this.#unreadable.look()
    this.#unwritable.look()
    this.#overloaded.look()
    this.#survivedFsync.look()
  }
}
