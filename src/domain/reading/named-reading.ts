import { secondText } from '../calendar.ts'
import type { Name } from './columns.ts'
import type { Reading } from './reading.ts'

type Named = Pick<NamedReading, 'cellarName' | 'rackName' | 'kegName' | 'value' | 'timeMs' | 'text'>

/**
 * A single reading that was read from the log, with `Name`s as in columns. Columns of one reading would take several times as long,
 * and so would the texts, which are made only when they are asked for.
 */
export class NamedReading implements Reading {
  readonly cellarName: Name
  readonly rackName: Name
  readonly kegName: Name
  readonly value: number
  /** The timestamp in ms since 1970, rounded down. */
  readonly timeMs: number
  /** The timestamp if it has another form than `YYYY-MM-DDThh:mm:ssZ`, otherwise `null`. */
  readonly text: string | null

  constructor({ cellarName, rackName, kegName, value, timeMs, text }: Named) {
    this.cellarName = cellarName
    this.rackName = rackName
    this.kegName = kegName
    this.value = value
    this.timeMs = timeMs
    this.text = text
  }

  get cellar(): string {
    return this.cellarName.text
  }

  get rack(): string {
    return this.rackName.text
  }

  get keg(): string {
    return this.kegName.text
  }

  get timestamp(): string {
    return this.text ?? secondText(this.timeMs)
  }

  /** Makes the object that an event has. */
  plain(): Reading {
    const { cellar, rack, keg, value, timestamp } = this
    return { cellar, rack, keg, value, timestamp }
  }
}
