import type { AttentionLine } from '../../src/domain/attention/attention-lines.ts'
import { AttentionPage } from '../../views/attention/attention-page.tsx'
import type { AttentionRow } from '../../views/attention/attention-types.ts'
import { RestPage } from '../../views/attention/rest-page.tsx'
import type { Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'

const minute = 60_000
const day = 86_400_000

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
  const resting = awake.slice(2, 5).map((row) => ({ ...row, rest: { untilMs: nowMs + 7 * day, by } }))
  const [row, rested] = [awake.at(3), resting[0]]
  if (row === undefined || rested === undefined) throw new Error('impossible')
  const all = { awake, resting, more: 3, count: awake.length + 3 }
  const none = { awake: [], resting: [], more: 0, count: 0 }
  const [admin, auditor] = [{ ...shell('admin'), attention: all.count }, shell('auditor')]
  return [
    { name: 'attention', html: AttentionPage({ shell: admin, attention: all }) },
    { name: 'attention-auditor', html: AttentionPage({ shell: auditor, attention: { ...all, more: 0 } }) },
    { name: 'attention-none', html: AttentionPage({ shell: auditor, attention: none }) },
    { name: 'attention-all-at-rest', html: AttentionPage({ shell: admin, attention: { ...none, resting } }) },
    { name: 'attention-rest', html: RestPage({ shell: admin, row, form: { values: { days: '7' }, faults: {} } }) },
    {
      name: 'attention-rest-refused',
      html: RestPage({
        shell: admin,
        row: rested,
        form: { values: { days: '' }, faults: { days: texts('fault'), form: texts('fault') } },
      }),
    },
  ]
}
