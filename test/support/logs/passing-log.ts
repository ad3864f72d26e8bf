import type { EventLog } from '../../../src/log/event-log.ts'

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
