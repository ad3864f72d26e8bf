import { randomUUID } from 'node:crypto'
import { conflictRetriesMax } from '../../limits.ts'
import { Outage } from '../event-log.ts'
import type { Appends } from './appends.ts'
import type { StoredEvent } from './stored-events.ts'
import { encodeRun } from './wire.ts'

/**
 * Sets `$tb` (truncate before) to the revision `before`. EventStoreDB hides the events before this revision at once, and
 * frees their space at its next scavenge (clean-up).
 * @throws Outage
 */
export const setTruncateBefore = async (
  metadataName: string,
  before: number,
  { appends, readLast }: { readonly appends: Appends; readLast(streamName: string): Promise<StoredEvent | null> },
): Promise<void> => {
  for (let tries = 0; tries <= conflictRetriesMax; tries += 1) {
    const last = await readLast(metadataName)
    const metadata = objectIn(last?.data ?? '{}')
    if (Number(metadata['$tb'] ?? 0) >= before) return
    const id = randomUUID()
    const data = JSON.stringify({ ...metadata, $tb: before })
    const run = encodeRun([{ id, type: '$metadata', metadata: '', data }])
    const appended = await appends.append({
      streamName: metadataName,
      expected: last === null ? 'none' : last.revision,
      events: 1,
      isTraffic: false,
      run,
    })
    if (appended.outcome === 'stored') return
  }
  throw new Outage(`Cannot write "${metadataName}": others keep writing it`, 'not_written', 'unavailable')
}

const objectIn = (text: string): Readonly<Record<string, unknown>> => {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
