import { messageOf } from '../domain/error-message.ts'
import type { LogLines } from '../log-lines.ts'
import type { Schedule } from '../schedule.ts'
import type { Certificate } from './read-certificate.ts'

export const certificateLookMs = 10_000
/** Before the end of the certificate. */
export const certificateWarnMs = 14 * 86_400_000

export type RenewalParts = {
  /** @throws if the files cannot be used */
  readonly read: () => Certificate
  /** False: not yet. @throws if the server cannot do this */
  readonly replace: (certificate: Certificate) => boolean
  readonly now: () => number
  readonly schedule: Schedule
  readonly lines: Pick<LogLines, 'info' | 'warn'>
}

export type CertificateTrouble = { readonly kind: 'certificate_ends' | 'certificate_ended'; readonly why: string }

type Look = 'same' | 'renewed' | 'waits' | { readonly fault: string }

/** Compares contents, not times and names: programs replace files by renaming, links or folders. */
export class CertificateRenewal {
  readonly #parts: RenewalParts
  #inUse: Certificate
  /** Not tried again until a person asks: each try could cost connections. */
  #refused: { readonly cert: string; readonly fault: string } | null = null
  #fault: { readonly why: string; isTold: boolean } | null = null
  #forget = (): void => {}

  constructor(first: Certificate, parts: RenewalParts) {
    this.#inUse = first
    this.#parts = parts
    this.#lookLater()
  }

  get endsAtMs(): number {
    return this.#inUse.endsAtMs
  }

  trouble(): CertificateTrouble | null {
    const leftMs = this.endsAtMs - this.#parts.now()
    if (leftMs <= 0) return { kind: 'certificate_ended', why: `it ended at ${instant(this.endsAtMs)}` }
    return leftMs > certificateWarnMs ? null : { kind: 'certificate_ends', why: `it ends at ${instant(this.endsAtMs)}` }
  }

  stop(): void {
    this.#forget()
  }

  /** For a person who asks, and gets an answer in every case. */
  lookNow(): void {
    this.#refused = null
    this.#tell(this.#look(), { isAsked: true })
  }

  #lookLater(): void {
    this.#forget = this.#parts.schedule.after(certificateLookMs, () => {
      this.#tell(this.#look(), { isAsked: false })
      this.#lookLater()
    })
  }

  #look(): Look {
    const found = this.#read()
    if ('fault' in found) return found
    if (found.cert === this.#inUse.cert && found.key === this.#inUse.key) return 'same'
    if (found.cert === this.#refused?.cert) return this.#refused
    const { now, replace } = this.#parts
    if (found.endsAtMs <= now()) return { fault: `the new one ended at ${instant(found.endsAtMs)}` }
    if (found.beginsAtMs > now()) return { fault: `the new one begins at ${instant(found.beginsAtMs)}` }
    try {
      if (!replace(found)) return 'waits'
    } catch (error) {
      this.#refused = { cert: found.cert, fault: messageOf(error) }
      return this.#refused
    }
    this.#inUse = found
    return 'renewed'
  }

  #read(): Certificate | { readonly fault: string } {
    try {
      return this.#parts.read()
    } catch (error) {
      return { fault: messageOf(error) }
    }
  }

  #tell(look: Look, { isAsked }: { readonly isAsked: boolean }): void {
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

const said: Readonly<Record<Exclude<Look, object>, string>> = {
  same: 'the certificate has not changed',
  renewed: 'a new certificate is in use: new connections get it',
  waits: 'the renewal before this one has not ended: the certificate is read again in two minutes at most',
}

const instant = (ms: number): string => new Date(ms).toISOString()
