import type { EventData } from '../../domain/events.ts'
import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { signInsStream } from '../../domain/stream-names.ts'
import { heartbeatMs, refusedSignInAddressesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import { systemAsker } from '../asked-by.ts'
import type { Asker, RefusedSignIn } from '../core-interface.ts'
import { RecordStream } from '../stream/record-stream.ts'

export const refusedSignInsToldMs = 60_000
/** The most accounts that one event names. Refusals of further accounts are only counted. */
export const refusedSignInAccountsMax = 50

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
    this.#add(
      email,
      { failed: 0, throttled: 0, [reason]: 1 },
      { addresses: [address], from: this.#context.clock.now() },
    )
  }

  #add(
    email: string | null,
    counts: Counts,
    { addresses, from }: { readonly addresses: readonly string[]; readonly from: number },
  ): void {
    this.#sums ??= { from, accounts: new Map(), others: { failed: 0, throttled: 0 } }
    this.#sums.from = Math.min(this.#sums.from, from)
    const { accounts, others } = this.#sums
    let sums = email === null ? undefined : accounts.get(email)
    if (email !== null && sums === undefined && accounts.size < refusedSignInAccountsMax) {
      sums = { failed: 0, throttled: 0, addresses: new Set() }
      accounts.set(email, sums)
    }
    const to = sums ?? others
    to.failed += counts.failed
    to.throttled += counts.throttled
    for (const address of addresses) {
      if (sums !== undefined && sums.addresses.size < refusedSignInAddressesMax) sums.addresses.add(address)
    }
  }

  onBeat(overdueBeat: number): void {
    this.#records.answerOverdue(overdueBeat)
    if (this.#context.beat % (refusedSignInsToldMs / heartbeatMs) === 0) void this.writeRefused()
  }

  /** If the append fails, the counts are added to the next event. */
  async writeRefused(): Promise<void> {
    const sums = this.#sums
    if (sums === null || this.#isWriting) return
    this.#isWriting = true
    this.#sums = null
    const data = dataOf(sums, this.#context.clock.now())
    try {
      const told = await this.#records.append({ type: 'SignInsRefused', data }, systemAsker(this.#context))
      if (!told.ok && told.refusal.kind !== 'not_confirmed') this.#giveBack(data)
    } catch {
      // The counts can be the cause of the bug, so they are not kept.
    } finally {
      this.#isWriting = false
    }
  }

  /** Older counts come first, because an event names only the first accounts and addresses. */
  #giveBack(older: EventData<'SignInsRefused'>): void {
    const newer = this.#sums === null ? [] : [dataOf(this.#sums, older.to)]
    this.#sums = null
    for (const { from, accounts, others } of [older, ...newer]) {
      for (const { email, addresses, ...counts } of accounts) this.#add(email, counts, { addresses, from })
      this.#add(null, others, { addresses: [], from })
    }
  }

  stop(): void {
    this.#records.stop()
  }
}

const dataOf = ({ from, accounts, others }: Sums, to: number): EventData<'SignInsRefused'> => ({
  from,
  to: Math.max(from, to),
  accounts: Array.from(accounts, ([email, sums]) => ({ ...sums, email, addresses: [...sums.addresses] })),
  others,
})
