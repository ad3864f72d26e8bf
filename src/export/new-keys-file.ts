/** The new keys of a rotation of several keys. The file is made when it is sent, and is stored nowhere. */
import type { ChangedKey } from '../actors/key/change-keys.ts'
import { visibleJson } from '../hidden-characters.ts'
import { csvRow } from './csv-escaping.ts'

const columns = ['cellar', 'label', 'old_id', 'new_id', 'key'] as const
const keysPerPiece = 500

/** Of up to 10,000 keys, so `pause` lets other work come between. */
export const newKeysFile = async (
  keys: readonly ChangedKey[],
  ending: 'csv' | 'json',
  pause: () => Promise<void>,
): Promise<string> => {
  const lines: string[] = []
  for (const [at, key] of keys.entries()) {
    if (at > 0 && at % keysPerPiece === 0) await pause()
    const row = rowOf(key)
    lines.push(
      ending === 'csv' ? csvRow(row) : visibleJson(Object.fromEntries(columns.map((name, n) => [name, row[n]]))),
    )
  }
  return ending === 'csv' ? csvRow(columns) + lines.join('') : `[\n  ${lines.join(',\n  ')}\n]\n`
}

const rowOf = ({ keyId, state, rotated }: ChangedKey): readonly string[] => [
  state.cellar,
  state.label,
  keyId,
  state.keyId,
  rotated?.key ?? '',
]
