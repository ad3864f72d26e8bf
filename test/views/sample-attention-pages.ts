import { type AttentionLine, attentionKinds } from '../../src/domain/attention/attention-lines.ts'
import type { RuleAround } from '../../src/domain/attention/silence-rules.ts'
import { AttentionPage } from '../../views/attention/attention-page.tsx'
import type { AttentionRow, PastView } from '../../views/attention/attention-types.ts'
import { PastPage } from '../../views/attention/past-lines.tsx'
import { RestPage } from '../../views/attention/rest-page.tsx'
import type { Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'
import { soundHealth } from './sample-health-pages.ts'
import { sampleWebhooks } from './sample-webhook-pages.ts'

const minute = 60_000
const day = 86_400_000

/** Silences of a keg: one goes on, and one began before the oldest record. */
export const samplePast = (texts: Texts, nowMs: number): PastView => {
  const [rack, keg] = [texts('rack'), texts('keg')]
  const silentAt = (at: number) => ({ kind: 'silent', rack, sinceMs: nowMs - at * day }) as const
  return {
    past: [
      { line: { ...silentAt(0.1), keg }, beganMs: nowMs - 0.09 * day, endedMs: null },
      { line: { ...silentAt(6), isGone: true }, beganMs: nowMs - 5.9 * day, endedMs: nowMs - 5.2 * day },
      { line: { kind: 'silent', sinceMs: nowMs - 33 * day }, beganMs: null, endedMs: nowMs - 28 * day },
    ],
    sinceMs: nowMs - 30 * day,
    isCut: false,
  }
}

/** Of a keg: that of its rack holds. */
export const sampleRules = (texts: Texts): readonly [RuleAround, ...RuleAround[]] => {
  const [rack, keg] = [texts('rack'), texts('keg')]
  return [
    { of: 'keg', rack, keg, after: null },
    { of: 'name', rack: null, keg, after: null },
    { of: 'rack', rack, keg: null, after: 120 * minute },
    { of: 'cellar', rack: null, keg: null, after: 'never' },
  ]
}

export const attentionPages = (
  texts: Texts,
  { shell, nowMs }: { readonly shell: (role: 'admin' | 'auditor') => Shell; readonly nowMs: number },
): readonly Page[] => {
  const rowOf = (line: AttentionLine): AttentionRow => ({
    cellar: line.node === undefined ? texts('cellar') : null,
    cellarTitle: line.node === undefined ? texts('title') : '',
    keyLabel: line.keyId === undefined ? null : texts('label'),
    line,
    rest: null,
  })
  const keyId = '4fGh7kLm'
  const ofKey = { sinceMs: nowMs - day, keyId }
  const ofNode = { sinceMs: nowMs - day, node: texts('rack') }
  const [rack, keg] = [texts('rack'), texts('keg')]
  const lines: readonly AttentionLine[] = [
    { kind: 'check_failed', ...ofNode },
    { kind: 'silent', sinceMs: nowMs - 5 * minute, count: 1_240 },
    { kind: 'silent', sinceMs: nowMs - 20 * minute, rack, count: 12 },
    { kind: 'silent', sinceMs: nowMs - 120 * minute, rack, keg, afterMs: 612_345 },
    { kind: 'key_refused', ...ofKey, count: 41 },
    { kind: 'key_at_limit', ...ofKey, count: 1_204 },
    { kind: 'refusals_rise', sinceMs: nowMs - 60 * minute, count: 5_310 },
    { kind: 'disk_fills', ...ofNode, dueMs: nowMs + 12 * day },
    { kind: 'certificate_ends', ...ofNode, dueMs: nowMs + 9 * day },
    { kind: 'key_expires', ...ofKey, dueMs: nowMs + 3 * day },
    { kind: 'backup_old', ...ofNode },
    { kind: 'rotation_hangs', ...ofKey },
    { kind: 'keys_unused', sinceMs: nowMs - 3 * day, count: 12 },
  ]
  const awake = lines.map(rowOf)
  const by = { kind: 'operator', email: texts('email') } as const
  const resting = awake
    .slice(2, 5)
    .map((row) => ({ ...row, rest: { untilMs: nowMs + 7 * day, by, of: { kind: row.line.kind, rack } } }))
  const [row, rested] = [awake.at(3), resting[0]]
  if (row === undefined || rested === undefined) throw new Error('impossible')
  const query = { cellar: null, kind: null }
  const none = { query, kinds: [], cellars: [], moreCellars: 0, awake: [], resting: [], more: 0, count: 0 }
  const kinds = attentionKinds.map((kind, at) => ({ kind, count: 11 - at }))
  const cellars = [1, 2].map((count) => ({ cellar: texts('cellar'), title: texts('title'), count }))
  const all = { query, kinds, cellars, moreCellars: 2, awake, resting, more: 3, count: awake.length + 3 }
  const chosen = {
    ...none,
    query: { cellar: texts('cellar'), kind: 'silent' },
    kinds: kinds.slice(0, 1),
    cellars,
  } as const
  const health = soundHealth(texts, nowMs)
  const webhooks = sampleWebhooks(texts, nowMs)
  const scope = { kind: 'silent', rack, keg } as const
  const past = {
    scope,
    cellar: texts('cellar'),
    cellarTitle: texts('title'),
    keyLabel: null,
    past: samplePast(texts, nowMs),
  }
  const pastOfNode = {
    ...past,
    scope: { kind: 'backup_old', node: texts('rack') },
    cellar: null,
    past: { past: [], sinceMs: nowMs - 30 * day, isCut: true },
  } as const
  const [admin, auditor] = [{ ...shell('admin'), attention: all.count }, shell('auditor')]
  return [
    { name: 'attention', html: AttentionPage({ shell: admin, attention: all, health, webhooks }) },
    {
      name: 'attention-auditor',
      html: AttentionPage({ shell: auditor, attention: { ...all, more: 0 }, health, webhooks: [] }),
    },
    { name: 'attention-none', html: AttentionPage({ shell: auditor, attention: none, health, webhooks: [] }) },
    {
      name: 'attention-all-at-rest',
      html: AttentionPage({ shell: admin, attention: { ...none, resting }, health, webhooks: [] }),
    },
    { name: 'attention-filtered', html: AttentionPage({ shell: admin, attention: chosen, health, webhooks: [] }) },
    { name: 'attention-past', html: PastPage({ shell: auditor, page: past }) },
    { name: 'attention-past-of-node', html: PastPage({ shell: auditor, page: pastOfNode }) },
    {
      name: 'attention-rest',
      html: RestPage({ shell: admin, row, offered: ['1', '7', '30'], form: { values: { days: '7' }, faults: {} } }),
    },
    {
      name: 'attention-rest-refused',
      html: RestPage({
        shell: admin,
        row: rested,
        offered: ['1', '0'],
        form: { values: { days: '' }, faults: { days: texts('fault'), form: texts('fault') } },
      }),
    },
  ]
}
