/** What to do about a line. */
import type { AttentionKind, AttentionLine } from '../../src/domain/attention/attention-lines.ts'
import type { EventKind } from '../../src/domain/events/declare-event.ts'
import { cannotSay } from '../log/sentence-parts.ts'
import { aboutText } from '../parts/quantity.ts'
import { paths } from '../paths.ts'
import type { AttentionRow } from './attention-types.ts'

type Step = { readonly href: string; readonly verb: string }

export const stepOf = ({ cellar, line }: Pick<AttentionRow, 'cellar' | 'line'>, isAdmin: boolean): Step => {
  const { kind, rack, keg, keyId = '' } = line
  const ofCellar = cellar ?? ''
  switch (kind) {
    case 'silent':
      return { verb: 'Show', href: silentPath(ofCellar, rack, keg) }
    case 'key_expires':
      return isAdmin ? { verb: 'Rotate', href: paths.rotateKey(keyId) } : { verb: 'Show', href: paths.key(keyId) }
    case 'key_at_limit':
    case 'key_refused':
      return { verb: 'Show why', href: paths.log({ kind: 'refusals', key: keyId }) }
    case 'refusals_rise':
      return { verb: 'Show why', href: paths.log({ kind: 'refusals', cellar: ofCellar }) }
    case 'keys_unused':
      return { verb: 'Show', href: paths.keys(ofCellar, { unused: '90' }) }
    case 'rotation_hangs':
      return { verb: 'Show', href: paths.keyRotation(keyId) }
    case 'disk_fills':
    case 'check_failed':
    case 'backup_old':
    case 'certificate_ends':
      return { verb: 'Health', href: paths.health }
    default:
      return cannotSay(kind)
  }
}

const silentPath = (cellar: string, rack: string | undefined, keg: string | undefined): string => {
  if (rack === undefined) return paths.cellar(cellar, '', 1, { silentFirst: true })
  return keg === undefined ? paths.rack(cellar, rack) : paths.keg(cellar, rack, keg)
}

export const hintOf = ({ kind, keg, afterMs }: AttentionLine): string | null => {
  switch (kind) {
    case 'silent': {
      const about = keg === undefined || afterMs === undefined ? null : aboutText(afterMs)
      return about === null ? null : `It counted as silent after about ${about} without a reading.`
    }
    case 'disk_fills':
      return 'Make room on the disk, or keep readings for fewer days.'
    case 'check_failed':
      return 'Check the disk, and have a backup ready.'
    case 'backup_old':
      return '“cellarbook backup” makes one.'
    case 'certificate_ends':
      return 'Install a new certificate.'
    default:
      return null
  }
}

const marks: Readonly<Record<AttentionKind, EventKind>> = {
  silent: 'attention',
  key_expires: 'keys',
  key_at_limit: 'refusals',
  key_refused: 'refusals',
  keys_unused: 'keys',
  rotation_hangs: 'keys',
  refusals_rise: 'refusals',
  disk_fills: 'log',
  check_failed: 'log',
  backup_old: 'log',
  certificate_ends: 'log',
}

export const markOf = (kind: AttentionKind): EventKind => marks[kind]
