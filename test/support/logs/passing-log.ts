import type { EventLog } from '../../../src/log/event-log.ts'

/** A log that hands everything on to that one, for a test that then replaces what it wants to see, or to fail. */
export const passingLog = (inner: EventLog): EventLog => ({
  append: (...args) => inner.append(...args),
  read: (...args) => inner.read(...args),
  readAll: (...args) => inner.readAll(...args),
  subscribe: (...args) => inner.subscribe(...args),
  truncate: (...args) => inner.truncate(...args),
  health: () => inner.health(),
  close: () => inner.close(),
})
