import type { EventStoreEndpoint, EventStoreSettings } from '../../eventstore-url.ts'
import { eventStoreRetryPauseMs, eventStoreStartMsMax } from '../../limits.ts'
import { faultOfLink, findLeader, nameOf, type StartFault, tooSmallAppendSize } from './leader.ts'
import { StoreMisfit, StoreUnreachable } from './start-faults.ts'
import { type Access, accessOf, type Link } from './store-link.ts'

export type ConnectionListener = {
  onUp(link: Link): void
  onAway(why: string): void
}

/**
 * Keeps one `Link` to the leader (docs/decisions/002-eventstoredb-without-its-client-object.md). Code that uses it reports
 * its failure with `lose`.
 */
export class Connection {
  readonly settings: EventStoreSettings
  readonly access: Access
  readonly #probeStream: string
  readonly #listeners = new Set<ConnectionListener>()
  #link: Link | null = null
  #connections = 0
  #why = 'it was not reached yet'
  #hint: EventStoreEndpoint | null = null
  #lastFault: { readonly at: string; readonly fault: StartFault } | null = null
  #isChecking = false
  #isClosed = false

  /** @throws StoreMisfit if a certificate or key file cannot be read */
  constructor(settings: EventStoreSettings, probeStream: string) {
    this.settings = settings
    this.access = accessOf(settings)
    this.#probeStream = probeStream
  }

  get link(): Link | null {
    return this.#link
  }

  /** To a leader, since the start. */
  get connections(): number {
    return this.#connections
  }

  get why(): string {
    return this.#why
  }

  /** Returns the function that removes it. */
  listen(listener: ConnectionListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @throws StoreUnreachable after `eventStoreStartMsMax`, StoreMisfit if waiting cannot help */
  async open(): Promise<void> {
    const untilMs = performance.now() + eventStoreStartMsMax
    while (!(await this.#seek())) {
      const misfit = this.#misfit()
      if (misfit !== null) throw misfit
      if (performance.now() >= untilMs) throw new StoreUnreachable(`Cannot reach EventStoreDB: ${this.#why}`)
      await pause(eventStoreRetryPauseMs)
    }
    const link = this.#link
    const bytesMax = link === null ? null : await tooSmallAppendSize(link, this.#probeStream)
    if (link !== null && bytesMax !== null) {
      throw new StoreMisfit(
        `Cannot use EventStoreDB at ${nameOf(link.endpoint)}: it takes at most ${bytesMax} bytes in one append. Set its MaxAppendSize to 1048576, which is its default`,
      )
    }
  }

  /** A second report does nothing. `leader` is tried first. */
  lose(link: Link, why: string, leader: EventStoreEndpoint | null = null): void {
    if (link !== this.#link) return
    this.#link = null
    this.#hint = leader
    this.#why = `${nameOf(link.endpoint)}: ${why}`
    link.close()
    for (const listener of this.#listeners) listener.onAway(this.#why)
    void this.#seekUntilFound()
  }

  /**
   * Call this after a denied append. If reads are denied too, for example after a password change, the node connects again.
   */
  async check(link: Link): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const fault = await faultOfLink(link, this.#probeStream)
    this.#isChecking = false
    if (fault?.kind === 'denied' || fault?.kind === 'may_not_follow') this.lose(link, fault.why)
  }

  close(): void {
    this.#isClosed = true
    this.#link?.close()
    this.#link = null
    this.#why = 'the log is closed'
  }

  async #seekUntilFound(): Promise<void> {
    while (!this.#isClosed && !(await this.#seek())) await pause(eventStoreRetryPauseMs)
  }

  async #seek(): Promise<boolean> {
    const hint = this.#hint
    this.#hint = null
    const found = await findLeader(this.settings, this.access, { probeStream: this.#probeStream, hint })
    if ('fault' in found) {
      this.#lastFault = found
      this.#why = `${found.at}: ${found.fault.why}`
      if (found.fault.kind === 'not_leader') this.#hint = found.fault.leader
      return false
    }
    if (this.#isClosed) {
      found.link.close()
      return true
    }
    this.#link = found.link
    this.#connections += 1
    for (const listener of this.#listeners) listener.onUp(found.link)
    return true
  }

  /** `null`: try again. */
  #misfit(): StoreMisfit | null {
    const { at, fault } = this.#lastFault ?? {}
    switch (fault?.kind) {
      case 'denied':
        return new StoreMisfit(
          `EventStoreDB at ${at} refuses the user name or password in EVENTSTORE_URL: ${fault.why}`,
        )
      case 'may_not_follow':
        return new StoreMisfit(
          `The user in EVENTSTORE_URL may not read $all of EventStoreDB at ${at}, by which the service follows the log. Allow it in the ACL of $all, or add the user to $admins`,
        )
      case 'untrusted':
        return new StoreMisfit(
          `Cannot trust EventStoreDB at ${at}: ${fault.why}; tlsCaFile in EVENTSTORE_URL names the authority that signed its certificate`,
        )
      case 'too_old':
        return new StoreMisfit(`Cannot use EventStoreDB at ${at}: ${fault.why}`)
      default:
        return null
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
