import { secondText } from '../calendar.ts'
import type { Name, ReadingOfBatch } from './columns.ts'
import type { Reading } from './fields.ts'

/**
 * One reading from the log. Its texts are made only when asked for: making them at once, or columns for one reading, would
 * take several times as long.
 */
export class NamedReading implements Reading {
  readonly cellarName: Name
  readonly rackName: Name
  readonly kegName: Name
  readonly value: number
  readonly timeMs: number
  readonly text: string | null

  constructor(cellarName: Name, { rack, keg, value, timeMs, text }: ReadingOfBatch) {
    this.cellarName = cellarName
    this.rackName = rack
    this.kegName = keg
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

  plain(): Reading {
    const { cellar, rack, keg, value, timestamp } = this
    return { cellar, rack, keg, value, timestamp }
  }
}
