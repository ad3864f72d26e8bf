import { messageOf } from '../domain/error-message.ts'
import type { LogLines } from '../log-lines.ts'
import type { Schedule } from '../schedule.ts'
import type { Certificate } from './read-certificate.ts'
import { CannotHandOver } from './shared-port.ts'

export const certificateLookMs = 10_000
/** Before the end of the certificate. Of one that is shorter than six weeks, the last third. */
const certificateWarnMsMax = 14 * 86_400_000

export type RenewalParts = {
  /** Rejects if the files cannot be used. */
  readonly read: () => Promise<Certificate>
  /** False: not yet. @throws CannotHandOver, or another error that can pass */
  readonly replace: (certificate: Certificate) => boolean
  readonly now: () => number
  readonly schedule: Schedule
  readonly lines: Pick<LogLines, 'info' | 'warn'>
}

export type CertificateTrouble = { readonly kind: 'certificate_ends' | 'certificate_ended'; readonly why: string }

type Asked = { readonly isAsked: boolean }

type Found = Certificate | { readonly fault: string }

type Look = 'same' | 'renewed' | 'waits' | { readonly fault: string }

/** Compares contents, not times and names: programs replace files by renaming, links or folders. */
export class CertificateRenewal {
  readonly #parts: RenewalParts
  #inUse: Certificate
  #seen: Certificate | null = null
  /** Not tried again until a person asks. */
  #refused: { readonly cert: string; readonly fault: string } | null = null
  #fault: { readonly why: string; isTold: boolean } | null = null
  #isStopped = false
  #forget = (): void => {}

  constructor(first: Certificate, parts: RenewalParts) {
    this.#inUse = first
    this.#parts = parts
    this.#lookLater()
  }

  get endsAtMs(): number {
    return this.#inUse.endsAtMs
  }

  get warnsAtMs(): number {
    const { beginsAtMs, endsAtMs } = this.#inUse
    return Math.ceil(endsAtMs - Math.min(certificateWarnMsMax, (endsAtMs - beginsAtMs) / 3))
  }

  trouble(): CertificateTrouble | null {
    const nowMs = this.#parts.now()
    if (nowMs >= this.endsAtMs) return { kind: 'certificate_ended', why: `it ended at ${instant(this.endsAtMs)}` }
    return nowMs < this.warnsAtMs ? null : { kind: 'certificate_ends', why: `it ends at ${instant(this.endsAtMs)}` }
  }

  stop(): void {
    this.#isStopped = true
    this.#forget()
  }

  /** For a person who asks, and gets an answer in every case. */
  async lookNow(): Promise<void> {
    this.#refused = null
    await this.#look({ isAsked: true })
  }

  #lookLater(): void {
    this.#forget = this.#parts.schedule.after(certificateLookMs, async () => {
      await this.#look({ isAsked: false })
      if (!this.#isStopped) this.#lookLater()
    })
  }

  async #look(asked: Asked): Promise<void> {
    const found = await this.#read()
    if (!this.#isStopped) this.#tell(this.#use(found, asked), asked)
  }

  #use(found: Found, { isAsked }: Asked): Look {
    if ('fault' in found) return found
    if (isSamePair(found, this.#inUse)) return 'same'
    if (found.cert === this.#refused?.cert) return this.#refused
    const { now, replace } = this.#parts
    if (found.endsAtMs <= now()) return { fault: `the new one ended at ${instant(found.endsAtMs)}` }
    if (found.beginsAtMs > now()) return { fault: `the new one begins at ${instant(found.beginsAtMs)}` }
    // A program can still be writing: the first part of a chain fits a key that was kept, but no device could check it.
    const isWhole = isAsked || isSamePair(found, this.#seen)
    this.#seen = found
    if (!isWhole) return 'waits'
    try {
      if (!replace(found)) return 'waits'
    } catch (error) {
      const fault = messageOf(error)
      if (error instanceof CannotHandOver) this.#refused = { cert: found.cert, fault }
      return { fault }
    }
    this.#inUse = found
    return 'renewed'
  }

  async #read(): Promise<Found> {
    try {
      return await this.#parts.read()
    } catch (error) {
      return { fault: messageOf(error) }
    }
  }

  #tell(look: Look, { isAsked }: Asked): void {
    const { lines } = this.#parts
    const facts = { validUntil: instant(this.endsAtMs) }
    if (typeof look === 'object') this.#tellFault(look.fault, isAsked)
    else {
      this.#fault = null
      if (look === 'renewed' || isAsked) lines.info(said[look], facts)
    }
  }

  /** Only at its second look: between two writes of a program, the certificate and the key do not fit. */
  #tellFault(why: string, isAsked: boolean): void {
    const isSecond = this.#fault?.why === why
    const isTold = isSecond && this.#fault?.isTold === true
    const mustTell = isAsked || (isSecond && !isTold)
    this.#fault = { why, isTold: isTold || mustTell }
    if (!mustTell) return
    const validUntil = instant(this.endsAtMs)
    this.#parts.lines.warn('the changed certificate cannot be used: the old one stays in use', { why, validUntil })
  }
}

const isSamePair = (a: Certificate, b: Certificate | null): boolean => a.cert === b?.cert && a.key === b.key

const said: Readonly<Record<Exclude<Look, object>, string>> = {
  same: 'the certificate has not changed',
  renewed: 'a new certificate is in use: new connections get it',
  waits: 'the renewal before this one has not ended: the certificate is read again in two minutes at most',
}

const instant = (ms: number): string => new Date(ms).toISOString()
