/** The bounds that several parts share. Every other bound stands beside the part that it bounds. */

// One reading (docs/contract.md, "One reading")
export const nameCodePointsMax = 128
export const futureSkewMsMax = 10 * 60_000

// Batches (docs/contract.md, "Limits")
export const batchReadingsMax = 1_000

// The derived store (docs/decisions/033-one-follower.md)
/** A step of a flush writes this number of rows: a few ms. */
export const modelRowsPerStep = 128
/** The follower waits this long after an outage of the log, and after the first failed flush of a model. */
export const modelRetryPauseMs = 1_000

// Idempotency keys (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency")
export const idempotencyKeyCharsMax = 255
export const idempotencyMs = 24 * 3_600_000
/** Idempotency keys are kept for this time after `idempotencyMs` has passed, because the clocks of nodes can differ. */
export const idempotencyMarginMs = 3_600_000

// Keys (docs/contract.md, "Keys" and "Rate limiting")
export const keyLimitDefault = { readings: 6_000, windowMs: 60_000 } as const
export const keyLimitReadingsMax = 10_000_000
export const keyWindowMsMin = 1_000
export const keyWindowMsMax = 24 * 3_600_000
/**
 * A slot leaves the rate window as a whole, so the window can admit less than the limit: at most 1/128. A node that loads a busy key
 * adds another 1/128. Together they are the 1/64 of the contract.
 */
export const rateWindowSlots = 128
export const rotationOverlapsMs = [0, 3_600_000, 24 * 3_600_000, 7 * 24 * 3_600_000] as const
export const rotationOverlapMsDefault = 24 * 3_600_000

// Retention (docs/contract.md, "Retention and versioning")
/** Rate windows and idempotency keys need the events of the last 24 hours, so a shorter retention is refused. */
export const retentionMsMin = 24 * 3_600_000
/** Events are kept for this time after their retention has ended, because the clocks of nodes can differ. */
export const retentionMarginMs = 3_600_000

export const passwordCharsMin = 12
export const passwordBytesMax = 512

// Sessions and links of operators
export const sessionMsMax = 12 * 3_600_000
export const sessionIdleMsDefault = 2 * 3_600_000
/** Unused one-time links of one operator, or for the first operator. A further link replaces the oldest. */
export const linksOpenMax = 20

export const refusedSignInAddressesMax = 5

/** A summary is appended at most this long after the first of its refusals, while the log takes events. */
export const refusalSummaryMsMax = 900_000

// Actors and their mailboxes (docs/protocol.md, "Appending a reading")
/**
 * How often actors check their waiting requests. Actors count `requestWaitMsMax` in heartbeats, so it must be a multiple of
 * this time.
 */
export const heartbeatMs = 500

export const conflictRetriesMax = 64
export const storeRetryPauseMsMax = 1_000

// Embedded log
/**
 * Streams whose last revision stays in memory, at about 100 bytes each. For other streams, the revision is read from the log's
 * file.
 */
export const storeStreamsRememberedMax = 50_000
/**
 * Reads of the whole log whose order of rows stays in memory between two pages. A further one makes the oldest of them
 * inexact, so that it does not find a missing last row of a stream. As many reads that began inside the log are kept.
 */
export const storeReadsRememberedMax = 4
/**
 * Commit groups under way: one is written, and one waits, so that the commit thread need not wait for the event loop. After a
 * failed commit, both groups get new positions, and the log can keep the order of only two groups.
 */
export const groupsUnderWayMax = 2
/**
 * `log verify` and the daily check read this number of rows, or these bytes, in one transaction. With more, SQLite could not
 * empty its write-ahead log for long.
 */
export const checkedRowsPerStep = 256
/** A row counts as this number of bytes besides its body: its other columns, and its entry in the index. */
export const checkedBytesBesideBody = 64
/** A running service checks its log once a day, and at this time after each start. */
export const checkDelayMs = 5_000
export const checkEveryMs = 24 * 3_600_000
/** A write waits at most this time if another program has locked the database. */
export const storeBusyMsMax = 250

// Failures that a node reports, in checks in a row (`domain/trouble.ts`)
export const troubleLookMs = 1_000
/** An overload is reported when this number of checks in a row found refused requests. */
export const overloadedLooksMin = 5
/** A reported failure counts as over when this number of checks in a row did not find it. */
export const troubleCalmLooks = 10

// EventStoreDB (`log/eventstoredb/eventstoredb-log.ts`)
/** After a conflict, a read can still miss the event that caused the conflict. The node pauses this time and reads again. */
export const eventStoreShowMs = 5
export const eventStoreRetryPauseMs = 100
export const eventStoreStartMsMax = 5_000

export const readPageEventsMax = 1_000
/**
 * An event can be recorded this much before an event that stands before it in the log. Clocks of nodes differ by a second, a jump
 * of a clock is believed after five, and a request waits five for the store.
 */
export const recordedSkewMsMax = 10_000
/** Rows of `ask.db` that one step of a search reads. That takes less than a millisecond, and 4 ms if no row is in memory. */
export const askRowsAtOnceMax = 32
/** Places whose texts one step of a search reads. Each place can have five, and most of them are the same for many places. */
export const askFoundAtOnceMax = 16
/** Keys whose busiest minutes or refusals one step of a question reads. They lie together. */
export const askKeysAtOnceMax = 500
/** Before the last hour of a key, for which `ask.db` keeps its busiest minutes. Lists ask for 24. */
export const askPeakHoursMax = 48
export const askKeyDaysMax = 100
export const askLatestRacksMax = 3
export const askRackKeysMax = 20
export const askRacksOfKeysMax = 2_000
/** Keys whose cellars a search remembers. */
export const searchedKeysMax = 10_000
/**
 * Events that a new actor reads from the end of its stream. The number is small, because after a start all actors read at once.
 */
export const tailEventsMax = 16

export const exportRetryPauseMs = 250

// Webhooks
export const webhookUrlCharsMax = 2_000
/** For everything: the look-up of the name, the connection, the request and the answer. */
export const webhookMsMax = 15_000
/** The first part of an answer, which a page shows. */
export const webhookAnswerBytesMax = 4_096
export const webhookAnswerCharsMax = 200

// The Log page
/** A search for a page ends after this time with what it has. The page then offers to go on. */
export const logSearchMs = 120
/** A page waits for one read of a store this long. Meanwhile, the store passes about 100,000 events of other programs. */
export const logReadMs = 1_000
/** How far back minutes are counted (`askMinutesKeptMs`). */
export const minuteRowsMs = 48 * 3_600_000
/** Summaries that are compared with the id of a refused request. */
export const summariesSearchedMax = 500

// The process
/** When the service stops, it first answers with `Connection: close` for this time, so that clients leave. */
export const drainNoticeMs = 500
export const drainMsMax = 10_000

// The command line and its socket
/** Events that `log read` reads at once. With more, readings of devices would wait too long. */
export const logReadPageEvents = 200
export const heldWaitMsMax = 10_000
export const heldRetryMs = 100
