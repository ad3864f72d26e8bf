import type { EventLog } from '../../../src/log/event-log.ts'

/** Passes every call on. A test replaces the calls that it watches or fails. */
export const passingLog = (inner: EventLog): EventLog => ({
  append: (...args) => inner.append(...args),
  read: (...args) => inner.read(...args),
  readAll: (...args) => inner.readAll(...args),
  subscribe: (...args) => inner.subscribe(...args),
  truncate: (...args) => inner.truncate(...args),
  health: () => inner.health(),
  close: () => inner.close(),
})
