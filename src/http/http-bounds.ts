export const readingBodyBytesMax = 16 * 1024
export const jsonNestingMax = 32
/** The most characters `{}[]:,` outside strings, which make a body slow to parse. A reading with its five fields has 11. */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
/**
 * A smaller body reserves no memory, as its connection takes as much. One in gzip or without `Content-Length` always does.
 */
export const bodyReservedBytesMin = 1024
/** A slower body is given up after `bodyGraceMs`, because its memory stays reserved. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/**
 * The most cookies, or addresses in `X-Forwarded-For`, that are looked at. A browser sends at most 180 cookies, but 16 KiB
 * have room for thousands. An address takes up to 5 µs.
 */
export const headerPartsMax = 200
/**
 * A connection without data is closed after this time, or up to 4 s earlier: Bun's timers have steps of 4 s. Above
 * `liveHeartbeatMs`, so that live pages stay open. Before its first request, a connection has only 10 s, which Bun decides.
 */
export const connectionIdleSecondsMax = 80
export const refusalLineNamesMax = 5
/** Counters for keys, and as many for addresses. A count is too low by at most a 257th of all refused requests. */
export const refusalLineCountersMax = 256
