import { beforeEach, describe, expect, test } from 'bun:test'
import { CertificateRenewal, certificateLookMs } from '../../src/listen/certificate-renewal.ts'
import type { Certificate } from '../../src/listen/read-certificate.ts'
import { CannotHandOver } from '../../src/listen/shared-port.ts'
import { type DrivenSchedule, drivenSchedule } from '../support/time/driven-schedule.ts'

const nowMs = Date.parse('2026-03-01T12:00:00Z')
const dayMs = 86_400_000
const pair = (name: string, days = 90): Certificate => ({
  cert: `certificate ${name}`,
  key: `key ${name}`,
  beginsAtMs: nowMs - dayMs,
  endsAtMs: nowMs + days * dayMs,
})
const broken = (why: string) => (): never => {
  throw new Error(why)
}

let schedule: DrivenSchedule
let lines: string[]
let read: () => Certificate | Promise<Certificate>
let replace: (certificate: Certificate) => boolean
let used: string[]

const renewalOf = (first: Certificate, now = () => nowMs): CertificateRenewal => {
  const line = (level: string) => (what: string, facts?: object) => {
    lines.push(`${level} ${what} ${JSON.stringify(facts)}`)
  }
  read = () => first
  const sink = { info: line('info'), warn: line('warn') }
  return new CertificateRenewal(first, {
    read: async () => read(),
    replace: (next) => replace(next),
    now,
    schedule,
    lines: sink,
  })
}

beforeEach(() => {
  schedule = drivenSchedule()
  lines = []
  used = []
  replace = ({ cert }) => used.push(cert) > 0
})

describe('CertificateRenewal', () => {
  test('uses a changed certificate once, and says until when it is valid', async () => {
    const renewal = renewalOf(pair('first'))
    await schedule.advance(certificateLookMs)
    expect([used, lines]).toEqual([[], []])
    read = () => pair('second', 60)
    await schedule.advance(certificateLookMs)
    await schedule.advance(certificateLookMs)
    expect(used).toEqual(['certificate second'])
    expect(renewal.endsAtMs).toBe(nowMs + 60 * dayMs)
    expect(lines).toEqual([
      'info a new certificate is in use: new connections get it {"validUntil":"2026-04-30T12:00:00.000Z"}',
    ])
  })

  test('uses a certificate that has only a new key', async () => {
    renewalOf(pair('first'))
    read = () => ({ ...pair('first'), key: 'key second' })
    await schedule.advance(2 * certificateLookMs)
    expect(used).toEqual(['certificate first'])
  })

  test('does not use a file that is still being written, until somebody asks', async () => {
    const renewal = renewalOf(pair('first'))
    const written = ['leaf', 'leaf, intermediate', 'leaf, intermediate, root']
    for (const cert of written) {
      read = () => ({ ...pair('first'), cert })
      await schedule.advance(certificateLookMs)
    }
    expect([used, lines]).toEqual([[], []])
    await schedule.advance(certificateLookMs)
    expect(used).toEqual(written.slice(-1))
    read = () => pair('second')
    await renewal.lookNow()
    expect(used.slice(1)).toEqual(['certificate second'])
  })

  test('keeps the old certificate while the new pair is broken, and says so once', async () => {
    const renewal = renewalOf(pair('first'))
    read = broken('the key belongs to another certificate')
    await schedule.advance(certificateLookMs)
    expect(lines).toEqual([])
    for (let looks = 0; looks < 3; looks += 1) await schedule.advance(certificateLookMs)
    expect(lines).toEqual([
      'warn the changed certificate cannot be used: the old one stays in use ' +
        '{"why":"the key belongs to another certificate","validUntil":"2026-05-30T12:00:00.000Z"}',
    ])
    read = () => pair('second')
    await schedule.advance(2 * certificateLookMs)
    expect([used, renewal.endsAtMs]).toEqual([['certificate second'], pair('second').endsAtMs])
  })

  test.each([
    [{ endsAtMs: nowMs }, 'the new one ended at 2026-03-01T12:00:00.000Z'],
    [{ beginsAtMs: nowMs + 1 }, 'the new one begins at 2026-03-01T12:00:00.001Z'],
  ])('does not use a certificate with %p', async (times, why) => {
    const renewal = renewalOf(pair('first'))
    read = () => ({ ...pair('second'), ...times })
    await renewal.lookNow()
    expect([used, lines.length]).toEqual([[], 1])
    expect(lines[0]).toContain(why)
  })

  test('tries a certificate again after a fault that can pass, and tells it once', async () => {
    renewalOf(pair('first'))
    replace = broken('EMFILE: too many open files')
    read = () => pair('second')
    for (let looks = 0; looks < 5; looks += 1) await schedule.advance(certificateLookMs)
    expect(lines.map((line) => line.includes('EMFILE'))).toEqual([true])
    replace = ({ cert }) => used.push(cert) > 0
    await schedule.advance(certificateLookMs)
    expect(used).toEqual(['certificate second'])
  })

  test('tries a certificate that the system cannot change only when somebody asks', async () => {
    const renewal = renewalOf(pair('first'))
    let tries = 0
    replace = () => {
      tries += 1
      throw new CannotHandOver('this system cannot hand the port over')
    }
    read = () => pair('second')
    for (let looks = 0; looks < 4; looks += 1) await schedule.advance(certificateLookMs)
    expect([tries, lines.length]).toEqual([1, 1])
    await renewal.lookNow()
    expect([tries, lines.length]).toEqual([2, 2])
  })

  test('waits for the renewal before it', async () => {
    const renewal = renewalOf(pair('first'))
    replace = () => false
    read = () => pair('second')
    await renewal.lookNow()
    expect(lines[0]).toStartWith('info the renewal before this one has not ended')
    replace = ({ cert }) => used.push(cert) > 0
    await schedule.advance(certificateLookMs)
    expect(used).toEqual(['certificate second'])
  })

  test('answers a person who asks, and reads no more after stop()', async () => {
    const renewal = renewalOf(pair('first'))
    await renewal.lookNow()
    expect(lines).toEqual(['info the certificate has not changed {"validUntil":"2026-05-30T12:00:00.000Z"}'])
    renewal.stop()
    read = () => pair('second')
    await schedule.advance(2 * certificateLookMs)
    await renewal.lookNow()
    expect([used, lines.length]).toEqual([[], 1])
  })

  test('waits for a read that hangs, and after stop() does not use it', async () => {
    const renewal = renewalOf(pair('first'))
    let hanging = Promise.withResolvers<Certificate>()
    let reads = 0
    read = () => {
      reads += 1
      return hanging.promise
    }
    await schedule.advance(5 * certificateLookMs)
    expect(reads).toBe(1)
    hanging.resolve(pair('second'))
    await schedule.quiet()
    hanging = Promise.withResolvers()
    await schedule.advance(certificateLookMs)
    renewal.stop()
    hanging.resolve(pair('second'))
    await schedule.advance(5 * certificateLookMs)
    expect([reads, used, lines]).toEqual([2, [], []])
  })

  test('warns from 14 days before the end on, until the certificate is renewed', async () => {
    let passedMs = 0
    const renewal = renewalOf(pair('first', 90), () => nowMs + passedMs)
    passedMs = 76 * dayMs - 1
    expect(renewal.trouble()).toBeNull()
    passedMs += 1
    expect(renewal.trouble()).toEqual({ kind: 'certificate_ends', why: 'it ends at 2026-05-30T12:00:00.000Z' })
    passedMs = 90 * dayMs
    expect(renewal.trouble()).toEqual({ kind: 'certificate_ended', why: 'it ended at 2026-05-30T12:00:00.000Z' })
    read = () => pair('second', 180)
    await renewal.lookNow()
    expect(renewal.trouble()).toBeNull()
  })

  test('warns in the last third of a short certificate', () => {
    let passedMs = 0
    // It has begun a day ago.
    const renewal = renewalOf(pair('first', 5), () => nowMs + passedMs)
    expect(renewal.warnsAtMs).toBe(nowMs + 3 * dayMs)
    passedMs = 3 * dayMs - 1
    expect(renewal.trouble()).toBeNull()
    passedMs += 1
    expect(renewal.trouble()?.kind).toBe('certificate_ends')
  })
})
