/** The new keys of a rotation of several keys. The file is made when it is sent, and is stored nowhere. */
import type { ChangedKey } from '../actors/key/change-keys.ts'
import { visibleJson } from '../hidden-characters.ts'
import { csvRow } from './csv-escaping.ts'

const columns = ['cellar', 'label', 'old_id', 'new_id', 'key'] as const

export const newKeysFile = (keys: readonly ChangedKey[], ending: 'csv' | 'json') => {
  const rows = keys.map(({ keyId, state, rotated }) => [
    state.cellar,
    state.label,
    keyId,
    state.keyId,
    rotated?.key ?? '',
  ])
  if (ending === 'csv')
    return {
      ending,
      type: 'text/csv; charset=utf-8; header=present',
      text: [[...columns], ...rows].map(csvRow).join(''),
    }
  const objects = rows.map((row) => `  ${visibleJson(Object.fromEntries(columns.map((name, at) => [name, row[at]])))}`)
  return { ending, type: 'application/json', text: `[\n${objects.join(',\n')}\n]\n` }
}
