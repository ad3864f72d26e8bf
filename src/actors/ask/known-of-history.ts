import type { HistoryWanted } from '../../asked/rows-of-history.ts'
import type { Core } from '../core-interface.ts'

export const knownOfHistory = (
  { projections: { keys, readings } }: Pick<Core, 'projections'>,
  keyId: string,
): Pick<HistoryWanted, 'keyId' | 'revision' | 'also'> => {
  const purged = readings.purged(keyId)
  const also = [...readings.barriers(keyId), ...(purged === null ? [] : [purged.last])]
  return { keyId, revision: keys.get(keyId)?.revision ?? -1, also }
}
