import type { RecordedEvent } from '../src/domain/events.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import { isRun, type LogItem, lastPositionOf } from '../src/domain/reading/recorded-run.ts'
import { assertNever } from '../src/domain/refusal.ts'
import { categoryOf, keyIdOf, readingsCategory, setupStream } from '../src/domain/stream-names.ts'
import { AcceptedReadings } from './accepted-readings.ts'
import { CellarList } from './cellar-list.ts'
import { KeyDirectory } from './key-directory.ts'
import { OperatorDirectory } from './operator-directory.ts'
import type { Projections } from './queries.ts'

export const createProjections = (): Projections => new FoldedProjections()

class FoldedProjections implements Projections {
  readonly cellars = new CellarList()
  readonly keys = new KeyDirectory(this.cellars)
  readonly readings = new AcceptedReadings()
  readonly operators = new OperatorDirectory()
  #position: number | null = null

  get position(): number | null {
    return this.#position
  }

  lastRevision(stream: string): number | null {
    switch (categoryOf(stream)) {
      case 'cellar':
        return this.cellars.ofStream(stream)?.revision ?? null
      case 'key':
        return this.keys.get(keyIdOf(stream))?.revision ?? null
      case 'operator':
        return this.operators.lastRevision(stream)
      case readingsCategory:
        return this.readings.lastRevision(stream)
      default:
        return null
    }
  }

  fold(items: readonly LogItem[]): void {
    for (const item of items) {
      if (isRun(item)) this.readings.foldRun(item)
      else this.#foldEvent(item)
      this.#see(lastPositionOf(item))
    }
  }

  reach(ends: readonly ReadingsEnd[]): void {
    for (const end of ends) {
      this.readings.reach(end)
      if (end.last !== null) this.#see(end.last.position)
    }
  }

  #see(position: number): void {
    if (this.#position === null || position > this.#position) this.#position = position
  }

  #foldEvent(event: RecordedEvent): void {
    switch (event.type) {
      case 'ReadingAccepted':
        this.readings.foldAccepted(event)
        return
      case 'ReadingsSealed':
      case 'ReadingsFenced':
        this.readings.foldBarrier(event)
        return
      case 'KeyCreated':
      case 'KeyRelabelled':
      case 'KeyLimitChanged':
      case 'KeyExpirySet':
      case 'KeyRotated':
      case 'KeySuperseded':
      case 'KeySuspended':
      case 'KeyResumed':
      case 'KeyExpired':
      case 'KeyRevoked':
        this.keys.fold(event)
        return
      case 'CellarCreated':
      case 'CellarRenamed':
      case 'CellarPolicyChanged':
        this.cellars.fold(event)
        return
      case 'ReadingsPurged':
        this.cellars.fold(event)
        this.readings.foldPurged(event)
        return
      case 'OperatorLinkUsed':
        this.operators.foldSetup(event)
        return
      case 'OperatorLinkIssued':
        if (event.stream === setupStream) this.operators.foldSetup(event)
        else this.operators.fold(event)
        return
      case 'OperatorAdded':
      case 'OperatorPasswordSet':
      case 'OperatorRoleChanged':
      case 'OperatorRemoved':
      case 'OperatorSignedIn':
      case 'OperatorSessionRenewed':
      case 'OperatorSignedOut':
        this.operators.fold(event)
        return
      case 'LogCreated':
      case 'LogCopyBegun':
      case 'LogCopyEnded':
      case 'RevisionVacant':
      case 'SignInSeen':
      case 'SignInsRefused':
      case 'ReadingsRefused':
      case 'LogExported':
      case 'LogSchemaAccepted':
      case 'LogLossAccepted':
      case 'RecordsPurged':
      case 'RecordUnreadable':
        return
      default:
        assertNever(event)
    }
  }
}
