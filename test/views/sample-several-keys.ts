import { ChangeRunPage, UnknownChangePage } from '../../views/keys/several/change-run-page.tsx'
import { ConfirmSeveralPage } from '../../views/keys/several/confirm-several.tsx'
import { type ChangeRunView, type KeysChosen, severalChanges } from '../../views/keys/several/several-types.ts'
import type { Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'

const requestId = '019ab3f2-51c4-7a02-8e55-0c11d2a9f0b3'
const overlaps = [
  { typed: '0', ms: 0 },
  { typed: '24h', ms: 86_400_000 },
]

export const severalKeysPages = (texts: Texts, shell: Shell): readonly Page[] => {
  const { nowMs } = shell
  const keys = ['7Qp2abCd', '9mN3pQrS', '4fXk9TqW'].map((keyId) => ({ keyId, label: texts('label') }))
  const values = {
    reason: texts('typed'),
    count: texts('typed'),
    overlap: '24h',
    expires: 'date',
    expires_on: '2026-12-01',
    limit_readings: texts('typed'),
    limit_seconds: texts('typed'),
  }
  const chosen: KeysChosen = {
    change: 'revoke',
    href: `/keys/change?find=${encodeURIComponent(texts('typed'))}&do=revoke&all=on`,
    back: `/keys?find=${encodeURIComponent(texts('typed'))}`,
    count: 312,
    shown: keys.map((key, at) => ({
      ...key,
      cellarTitle: texts('title'),
      lastUsedAt: at === 2 ? null : nowMs - at * 90_000,
      racks: null,
    })),
    cellars: 14,
    usedLately: 2,
    expired: 1,
    rotatedBefore: 3,
    staying: [
      { count: 3, why: 'already revoked' },
      { count: 1, why: 'expired' },
    ],
    moved: null,
    mustType: 312,
    form: { values: { ...values, reason: '', count: '' }, faults: {} },
    formId: requestId,
    confirmed: '7Qp2a9mN3p',
    isAskedAgain: false,
  }
  const fault = texts('fault')
  const faults = { form: fault, reason: fault, count: fault, overlap: fault, expires_on: fault, limit_readings: fault }
  const ofChange = (changed: Partial<KeysChosen>) =>
    ConfirmSeveralPage({ shell, chosen: { ...chosen, ...changed }, overlaps })
  const run: ChangeRunView = {
    id: requestId,
    change: 'revoke',
    count: 312,
    changed: 300,
    same: 4,
    gone: 2,
    refused: keys.map((key) => ({ ...key, why: texts('fault') })),
    refusedCount: 3,
    left: keys,
    leftCount: 5,
    ended: { at: nowMs, why: 'session_ended' },
    newKeys: 0,
    newKeysEnd: null,
    rest: '/keys/change?do=revoke&key=7Qp2abCd',
    again: '/keys/change?do=revoke&key=7Qp2abCd',
    back: '/keys',
  }
  const whole = { ...run, changed: 312, same: 0, refused: [], refusedCount: 0, left: [], leftCount: 0 }
  const ofRun = (changed: Partial<ChangeRunView>) => ChangeRunPage({ shell, run: { ...run, ...changed } })
  return [
    ...severalChanges.map((change) => ({
      name: `several-${change}`,
      html: ofChange({ change, mustType: change === 'revoke' ? 312 : null }),
    })),
    {
      name: 'several-refused',
      html: ofChange({
        moved: { came: 1, left: 2 },
        isAskedAgain: true,
        cellars: 1,
        usedLately: 1,
        form: { values, faults },
      }),
    },
    { name: 'several-nothing', html: ofChange({ count: 0, shown: [] }) },
    { name: 'several-running', html: ofRun({ ended: null, changed: 120, left: [], leftCount: 0 }) },
    { name: 'several-ended', html: ofRun({}) },
    { name: 'several-log-away', html: ofRun({ ended: { at: nowMs, why: 'log_away' }, leftCount: 600 }) },
    { name: 'several-done', html: ofRun(whole) },
    { name: 'several-rotated', html: ofRun({ ...whole, change: 'rotate', newKeys: 312 }) },
    {
      name: 'several-handed-out',
      html: ofRun({ ...whole, change: 'rotate', newKeysEnd: { at: nowMs, isTaken: true }, again: null }),
    },
    { name: 'several-dropped', html: ofRun({ ...whole, change: 'rotate', newKeysEnd: { at: nowMs, isTaken: false } }) },
    { name: 'several-unknown', html: UnknownChangePage({ shell, id: requestId, by: null }) },
    { name: 'several-of-another', html: UnknownChangePage({ shell, id: requestId, by: texts('email') }) },
  ]
}
