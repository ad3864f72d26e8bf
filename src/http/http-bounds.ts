export const readingBodyBytesMax = 16 * 1024
export const jsonNestingMax = 32
/**
 * Characters `{}[]:,` outside strings in the body of one reading. A body with many of them is slow to parse. A reading with its
 * five fields has 11.
 */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
/**
 * A body up to this size reserves no memory, because its connection takes as much anyway. A gzip body, or a body without
 * `Content-Length`, always reserves memory.
 */
export const bodyReservedBytesMin = 1024
/** After `bodyGraceMs`, the service gives up a body that arrives more slowly than this, because its memory stays reserved. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/**
 * Cookies, or addresses in `X-Forwarded-For`, that the service looks at. A browser sends at most 180 cookies, but 16 KiB have
 * room for thousands. Each address takes up to 5 µs.
 */
export const headerPartsMax = 200
/**
 * A connection without data is closed after this time, or up to 4 s before, because Bun's timers have steps of 4 s. It is above
 * `liveHeartbeatMs`, so that live pages stay open. Before its first request, a connection has only 10 s, which Bun decides.
 */
export const connectionIdleSecondsMax = 80
export const refusalLineNamesMax = 5
/**
 * A log line counts the refused requests of the most frequent keys with this number of counters, and those of addresses with as
 * many. A count is too low by at most a 257th of all refused requests.
 */
export const refusalLineCountersMax = 256
