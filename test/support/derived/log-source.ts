import { logReadPageEvents } from '../../../src/limits.ts'
import type { EventLog } from '../../../src/log/event-log.ts'
import type { Source } from '../../../src/log/source.ts'

/** Reads the pages of the follower from a log of this process. */
export const logSource = (log: Pick<EventLog, 'readAll'>, limit: number = logReadPageEvents): Source => ({
  after: async (position) => {
    const items = await log.readAll({ limit, ...(position === null ? {} : { from: position }) })
    return { items, scannedTo: items.at(-1)?.position ?? position, atEnd: items.length < limit }
  },
  beginningOf: async () => null,
  close: async () => {},
})
