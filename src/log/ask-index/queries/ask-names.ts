import { type EventKind, eventKinds } from '../../../domain/events/declare-event.ts'
import { isEventType } from '../../../domain/events.ts'
import type { Period } from '../../../domain/search/event-filter.ts'
import { AskUnusable, type EventPlace } from '../../ask-index.ts'
import type { PlaceRow } from '../ask-rows.ts'
import type { AskStatements } from './ask-statements.ts'

/** Remembers names, so it serves only one answer. */
export class AskNames {
  readonly #statements: AskStatements
  readonly #texts = new Map<number, string>()

  constructor(statements: AskStatements) {
    this.#statements = statements
  }

  /** `null`: nothing in the index has this name. @throws AskUnusable */
  numberOf(text: string): number | null {
    const rows = this.#statements.nameOfText.all(text)
    return rows[0]?.id ?? null
  }

  /** @throws AskUnusable */
  textOf(number: number): string {
    const known = this.#texts.get(number)
    if (known !== undefined) return known
    const [row] = this.#statements.nameOfNumber.all(number)
    if (row === undefined) throw new AskUnusable(`Cannot use ask.db: "names" has no row ${number}`)
    this.#texts.set(number, row.name)
    return row.name
  }

  /** @throws AskUnusable */
  placeOf({ position, recorded_at: recordedAt, revision, ...row }: PlaceRow): EventPlace {
    const type = this.textOf(row.type)
    if (!isEventType(type)) throw new AskUnusable(`Cannot use ask.db: no event has the type "${type}"`)
    return {
      position,
      stream: this.textOf(row.stream),
      revision,
      recordedAt,
      kind: this.#kindOf(row.kind),
      type,
      actor: this.textOf(row.actor),
      key: row.key === null ? null : this.textOf(row.key),
      cellar: row.cellar === null ? null : this.textOf(row.cellar),
      ...periodOfRow(row),
    }
  }

  #kindOf(number: number): EventKind {
    const text = this.textOf(number)
    const kind = eventKinds.find((each) => each === text)
    if (kind === undefined) throw new AskUnusable(`Cannot use ask.db: no event is of the kind "${text}"`)
    return kind
  }
}

export const periodOfRow = (row: Pick<PlaceRow, 'first_at' | 'last_at'>): Partial<Period> =>
  row.first_at === null || row.last_at === null ? {} : { firstAt: row.first_at, lastAt: row.last_at }
