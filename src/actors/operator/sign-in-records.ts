import type { Decided, EventData } from '../../domain/events.ts'
import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { signInsStream } from '../../domain/stream-names.ts'
import { heartbeatMs, refusedSignInAddressesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { Asker, RefusedSignIn } from '../core-interface.ts'
import { RecordStream } from '../stream/record-stream.ts'

export const refusedSignInsToldMs = 60_000
/** That one event names. Others are only counted. */
export const refusedSignInAccountsMax = 50

type SignInRecord = Decided<'SignInSeen' | 'SignInsRefused'>
type Counts = { failed: number; throttled: number }
type AccountSums = Counts & { readonly addresses: Set<string> }
type Sums = { from: number; readonly accounts: Map<string, AccountSums>; readonly others: Counts }

/** Addresses and browsers are personal data, so only `signins-node` holds them: its events are purged by age. */
export class SignInRecords {
  readonly #context: ActorContext
  readonly #records: RecordStream
  #sums: Sums | null = null
  #isWriting = false

  constructor(context: ActorContext) {
    this.#context = context
    this.#records = new RecordStream(context, signInsStream)
  }

  get isIdle(): boolean {
    return this.#records.isIdle
  }

  seen(data: EventData<'SignInSeen'>, asker: Asker): Promise<Outcome<number, CommandRefusal>> {
    return this.#records.append({ type: 'SignInSeen', data }, asker)
  }

  refused({ email, reason, address }: RefusedSignIn): void {
    this.#sums ??= { from: this.#context.clock.now(), accounts: new Map(), others: { failed: 0, throttled: 0 } }
    const { accounts, others } = this.#sums
    let sums = email === null ? undefined : accounts.get(email)
    if (email !== null && sums === undefined && accounts.size < refusedSignInAccountsMax) {
      sums = { failed: 0, throttled: 0, addresses: new Set() }
      accounts.set(email, sums)
    }
    const counts = sums ?? others
    counts[reason] += 1
    if (sums !== undefined) addAddress(sums, address)
  }

  onBeat(overdueBeat: number): void {
    this.#records.answerOverdue(overdueBeat)
    if (this.#context.beat % (refusedSignInsToldMs / heartbeatMs) === 0) void this.writeRefused()
  }

  /** If it fails, the counts are added to the next event. */
  async writeRefused(): Promise<void> {
    const sums = this.#sums
    if (sums === null || this.#isWriting) return
    this.#isWriting = true
    this.#sums = null
    const asker = systemAsker(this.#context)
    try {
      const told = await this.#records.append(refusedEvent(sums, this.#context.clock.now()), asker)
      if (!told.ok && told.refusal.kind !== 'not_confirmed') this.#sums = merged(sums, this.#sums)
    } catch {
      // The counts can be the cause of the bug, so they are not kept.
    } finally {
      this.#isWriting = false
    }
  }

  stop(): void {
    this.#records.stop()
  }
}

const refusedEvent = ({ from, accounts, others }: Sums, to: number): SignInRecord => ({
  type: 'SignInsRefused',
  data: {
    from,
    to: Math.max(from, to),
    accounts: Array.from(accounts, ([email, { failed, throttled, addresses }]) => ({
      email,
      failed,
      throttled,
      addresses: [...addresses],
    })),
    others: { ...others },
  },
})

const merged = (older: Sums, newer: Sums | null): Sums => {
  if (newer === null) return older
  add(older.others, newer.others)
  for (const [email, counts] of newer.accounts) {
    const known = older.accounts.get(email)
    if (known !== undefined) {
      add(known, counts)
      for (const address of counts.addresses) addAddress(known, address)
    } else if (older.accounts.size < refusedSignInAccountsMax) older.accounts.set(email, counts)
    else add(older.others, counts)
  }
  return older
}

const add = (to: Counts, { failed, throttled }: Counts): void => {
  to.failed += failed
  to.throttled += throttled
}

const addAddress = ({ addresses }: AccountSums, address: string): void => {
  if (addresses.size < refusedSignInAddressesMax) addresses.add(address)
}
