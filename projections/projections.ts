import { isIn, type RecordedEvent } from '../src/domain/events.ts'
import type { ReadingsEnd } from '../src/domain/reading/readings-end.ts'
import { isRun, type LogItem, lastPositionOf } from '../src/domain/reading/recorded-run.ts'
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
    if (event.type === 'ReadingAccepted') this.readings.foldAccepted(event)
    else if (isIn('key', event)) this.keys.fold(event)
    else if (isIn('operator-setup', event) && event.stream === setupStream) this.operators.foldSetup(event)
    else if (isIn('cellar', event)) this.cellars.fold(event)
    else if (isIn('operator', event)) this.operators.fold(event)
    else if (isIn('readings', event)) this.readings.foldBarrier(event)
    if (event.type === 'ReadingsPurged') this.readings.foldPurged(event)
  }
}
