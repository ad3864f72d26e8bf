import { type EventLog, StillSearching } from '../../../src/log/event-log.ts'

/** A log that passes every call on. A test replaces the calls that it wants to watch or to fail. */
export const passingLog = (inner: EventLog): EventLog => ({
  append: (...args) => inner.append(...args),
  read: (...args) => inner.read(...args),
  readAll: (...args) => inner.readAll(...args),
  subscribe: (...args) => inner.subscribe(...args),
  truncate: (...args) => inner.truncate(...args),
  health: () => inner.health(),
  close: () => inner.close(),
})

/** As if the store passed many events of other programs in each read: a read with a short time finds nothing. */
export const slowLog = (log: EventLog): EventLog => ({
  ...passingLog(log),
  readAll: async (options) => {
    if (options.msMax !== undefined) throw new StillSearching(null)
    return log.readAll(options)
  },
})
