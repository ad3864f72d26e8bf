import { type CellarCommand, type CellarState, decideCellar, evolveCellar, type Purge } from '../../domain/cellar.ts'
import type { NewEvent } from '../../domain/events.ts'
import { decideKey, evolveKey } from '../../domain/key.ts'
import { keyIdBytes, makeKey, makeKeyId, secretBytes } from '../../domain/key-format.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../domain/refusal.ts'
import { keyStream } from '../../domain/stream-names.ts'
import type { ActorContext } from '../actor-context.ts'
import { askedBy, systemAsker } from '../asked-by.ts'
import type { Asker, CreatedKey, NewKey } from '../core-interface.ts'
import type { NamedSuccessor } from '../key/change-key.ts'
import { havingWritten } from '../outage-refusals.ts'
import { appendUntilKnown } from '../stream/append-until-known.ts'
import { StreamActor } from '../stream/stream-actor.ts'

export const keysPerCellarMax = 10_000
/** Ids have 47 random bits, so it is very unlikely that a new id is taken. */
const keyIdTriesMax = 3

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

type PurgeReadings = Extract<CellarCommand, { type: 'PurgeReadings' }>

type KeyToMake = NewKey & { readonly predecessorId: string | null }

type Naming = {
  readonly successorId: string
  readonly name: (successorId: string) => Answer<NamedSuccessor>
}

/** Also creates the cellar's keys, one after the other: it counts them for the limit of keys and for default labels. */
export class CellarActor extends StreamActor<'cellar', CellarState | null, CellarCommand> {
  constructor(stream: string, context: ActorContext) {
    const projected = () => {
      const state = context.projections.cellars.ofStream(stream)
      return state === null ? null : { state, revision: state.revision }
    }
    super(context, { stream, kind: 'cellar', initial: null, decide: decideCellar, evolve: evolveCellar, projected })
  }

  change(command: CellarCommand, asker: Asker): Answer<CellarState> {
    return this.ask(async () => {
      const changed = await this.record(() => command, asker)
      this.context.limitsEpoch += 1
      if (!changed.ok) return changed
      return changed.value === null ? refused({ kind: 'cellar_not_found' }) : done(changed.value)
    })
  }

  /** Skips a key that another node has purged: then the key's readings no longer begin at `firstRevision`. */
  purge(command: PurgeReadings): Answer<null> {
    return this.ask(async () => {
      const { readings } = this.context.projections
      const isNext = ({ keyId, firstRevision }: Purge) => firstRevision === (readings.purged(keyId)?.keptFrom ?? 0)
      const due = (): PurgeReadings => ({ ...command, purges: command.purges.filter(isNext) })
      const purged = await this.record(due, systemAsker(this.context))
      return purged.ok ? done(null) : purged
    })
  }

  createKey(input: NewKey, asker: Asker): Answer<CreatedKey> {
    return this.ask(() => this.#createKey({ ...input, predecessorId: null }, asker))
  }

  /**
   * The old key names the successor first (docs/decisions/012-a-rotation-is-two-appends.md). A retry with the same id
   * creates the successor.
   */
  rotateKey({ successorId, name }: Naming, asker: Asker): Answer<CreatedKey & Pick<NamedSuccessor, 'replacedId'>> {
    return this.ask(async () => {
      const cellar = await this.load()
      if (cellar === null) return refused({ kind: 'cellar_not_found' })
      const full = this.#noRoomIn(cellar.cellar)
      if (full !== null) return full
      // The same form was sent again. If the old key named this successor again, it could replace a newer one.
      const [known] = await this.context.log.read(keyStream(successorId), { limit: 1 })
      if (known !== undefined) return refused({ kind: 'key_exists' })
      const named = await name(successorId)
      if (!named.ok) return named
      const { key, replacedId } = named.value
      const { keyId, label, note, limit, expiresAt } = key
      const input = { cellar: cellar.cellar, label, note, limit, expiresAt, keyId: successorId, predecessorId: keyId }
      const created = await havingWritten(() => this.#createKey(input, asker))
      return created.ok ? done({ ...created.value, replacedId }) : created
    })
  }

  #noRoomIn(cellar: string) {
    const keys = this.context.projections.keys.ofCellar(cellar).length
    return keys < keysPerCellarMax ? null : refused({ kind: 'too_many_keys', keysMax: keysPerCellarMax } as const)
  }

  async #createKey(input: KeyToMake, asker: Asker): Answer<CreatedKey> {
    const { clock, entropy, projections } = this.context
    if ((await this.load()) === null) return refused({ kind: 'cellar_not_found' })
    const full = this.#noRoomIn(input.cellar)
    if (full !== null) return full
    const label = input.label === '' ? `Key ${projections.keys.ofCellar(input.cellar).length + 1}` : input.label
    for (let tries = 0; tries < keyIdTriesMax; tries += 1) {
      const keyId = input.keyId ?? makeKeyId(entropy.bytes(keyIdBytes))
      const { key, secretHash } = makeKey(keyId, entropy.bytes(secretBytes))
      const recordedAt = clock.now()
      const decision = decideKey(null, { ...input, type: 'CreateKey', keyId, label, secretHash }, recordedAt)
      if (!decision.ok) return decision
      const common = { recordedAt, metadata: askedBy(asker) }
      const events = decision.value.map((event): NewEvent => ({ ...event, ...common, id: entropy.uuid() }))
      const append = { stream: keyStream(keyId), expected: 'none' as const, events }
      const result = await appendUntilKnown(this.context, append, { mustFinish: false })
      if (result.outcome === 'conflict') {
        if (input.keyId !== undefined) return refused({ kind: 'key_exists' })
        continue
      }
      projections.fold(result.events)
      const [created] = result.events
      if (created?.type === 'KeyCreated') return done({ key, state: evolveKey(null, created) })
    }
    throw new Error(`Cannot create a key: ${keyIdTriesMax} random ids were taken`)
  }
}
