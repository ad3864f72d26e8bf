import type { RecordedEvent } from '../src/domain/events.ts'
import { assertNever } from '../src/domain/refusal.ts'
import { setupStream } from '../src/domain/streams.ts'
import { CellarsFold } from './cellars.ts'
import { KeyDirectory } from './key-directory.ts'
import { OperatorsFold } from './operators.ts'
import type { Projections } from './queries.ts'
import { ReadingsFold } from './readings.ts'

export const createProjections = (): Projections => new FoldedProjections()

class FoldedProjections implements Projections {
  readonly cellars = new CellarsFold()
  readonly keys = new KeyDirectory(this.cellars)
  readonly readings = new ReadingsFold()
  readonly operators = new OperatorsFold()
  #position: number | null = null

  get position(): number | null {
    return this.#position
  }

  fold(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      this.#foldOne(event)
      if (this.#position === null || event.position > this.#position) this.#position = event.position
    }
  }

  #foldOne(event: RecordedEvent): void {
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
      case 'OperatorLinkUsed':
        this.operators.foldSetup(event)
        return
      case 'OperatorLinkIssued':
        if (event.stream === setupStream) this.operators.foldSetup(event)
        else this.operators.fold(event)
        return
      case 'OperatorAdded':
      case 'OperatorPasswordSet':
      case 'OperatorSignedIn':
      case 'OperatorSignedOut':
        this.operators.fold(event)
        return
      case 'LogCreated':
      case 'LogCopyBegun':
      case 'LogCopyEnded':
      case 'RevisionVacant':
        return
      default:
        assertNever(event)
    }
  }
}
