/** The new keys of a rotation of several keys. The file is made when it is sent, and is stored nowhere. */
import type { ChangedKey } from '../actors/key/change-keys.ts'
import { visibleJson } from '../hidden-characters.ts'
import { csvRow } from './csv-escaping.ts'

const columns = ['cellar', 'label', 'old_id', 'new_id', 'key'] as const

/** Of up to 10,000 keys, which take 6 ms. */
export const newKeysFile = (keys: readonly ChangedKey[], ending: 'csv' | 'json'): string => {
  const rows = keys.map(rowOf)
  if (ending === 'csv') return [columns, ...rows].map(csvRow).join('')
  const lines = rows.map((row) => visibleJson(Object.fromEntries(columns.map((name, n) => [name, row[n]]))))
  return `[\n  ${lines.join(',\n  ')}\n]\n`
}

const rowOf = ({ keyId, state, rotated }: ChangedKey): readonly string[] => [
  state.cellar,
  state.label,
  keyId,
  state.keyId,
  rotated?.key ?? '',
]
