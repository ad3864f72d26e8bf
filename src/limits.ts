/** Every bound, with its unit in its name. Without a bound, a queue, loop, retry or map could use up all memory or time. */

// One reading (docs/contract.md, "One reading")
export const readingBodyBytesMax = 16 * 1024
export const nameCodePointsMax = 128
export const futureSkewMsMax = 10 * 60_000

// Batches (docs/contract.md, "Limits")
export const batchReadingsMax = 1_000
export const batchBodyBytesMax = 1024 * 1024
/**
 * Size of a gzip body before it is unpacked. Each 128 KiB can take 20 ms, even if it unpacks to a single reading. A thousand
 * readings with a UUID for each rack and keg take 65 to 100 KB.
 */
export const packedBodyBytesMax = 128 * 1024
/** A gzip body is unpacked in pieces of this size. For a batch, Node's default of 16 KiB takes twice as long. */
export const gunzipChunkBytes = 128 * 1024
/** Size of all events of a batch as JSON. EventStoreDB refuses an append over 1 MiB. */
export const batchEncodedBytesMax = 1_000_000
/**
 * `batchEncodedBytesMax` counts this number of bytes for each event besides its data: id, type, metadata and framing take at
 * most 360.
 */
export const encodedReadingBytesBesideData = 400

// Structure of a body: the cost of `JSON.parse` (docs/contract.md, "Cost")
export const jsonNestingMax = 32
/**
 * Characters `{}[]:,` outside strings in the body of one reading. A body with many of them is slow to parse. A reading with its
 * five fields has 11.
 */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
export const batchNamesMax = 3_000

// The derived store (docs/decisions/033-one-follower.md)
/** A model is flushed when about this number of rows waits. A row takes about 150 bytes. */
export const modelPendingMax = 16_384
/** A step of a flush writes this number of rows: a few ms. */
export const modelRowsPerStep = 128
/** Pages of a model's file that the follower keeps in memory, in KiB. */
export const modelCacheKib = 1_024
/** How long the follower waits for another program that has locked the file of a model. */
export const modelBusyMsMax = 1_000
/** A model counts as behind if it has not met the end of the log for this time. */
export const modelBehindMs = 2_000
/** The follower waits this long after an outage of the log, and after the first failed flush of a model. */
export const modelRetryPauseMs = 1_000
/** If the flushes of a model fail again and again, for example because the disk is full, the pauses double up to this one. */
export const modelRetryPauseMsMax = 10_000
/** If the file of a model is lost again and again, the pauses before it is built anew double up to this one. */
export const modelAnewPauseMsMax = 600_000
/**
 * The models wait this long for the flush of one of them, which is longer than usual flushes. Then they go on without it: idempotency keys
 * must not wait in memory for the flush of a large purge.
 */
export const followerFlushMsMax = 500
/** The follower asks the log again after this time if it has not got events that were published. Then the pauses double. */
export const followerPollMsMin = 10
/** The follower asks the log after this time even if nothing was published, and looks whether a flush is due. */
export const followerIdleMs = 1_000
/** The main thread tells the follower at most so often that the log has published events. */
export const followerToldEveryMs = 50
/** A page waits this long for a model to include what its form has changed. */
export const followerUpToMsMax = 1_000
/** At its end, the node waits this long for the last flushes. What is missing is read at the next start. */
export const followerStopMsMax = 2_000
/** After a crash of the follower's thread, the pauses before it starts again double up to this one. They begin anew after this time without a crash. */
export const followerRestartMsMax = 600_000

// Questions to the read models
/** Open questions of a node. Each holds its parameters and one statement: a few KB. */
export const questionsOpenMax = 256
/** If the thread for questions fails at once, it is started again this rarely. */
export const questionRestartMsMin = 1_000
/** The thread for questions waits this long for a file that another program has locked. */
export const questionBusyMsMax = 100
/** Pages of each model that the thread for questions keeps in memory, in KiB. */
export const questionCacheKib = 1_024

// The read model `ask.db`
/** How often `ask.db` is flushed if nobody asks. */
export const askWriteEveryMs = 10_000
/** The place of an event takes as much memory as this number of other entries, and counts as so many. */
export const askPlaceEntries = 8
/** Keys whose counters the node keeps from one change of `ask.db` to the next: about 100 bytes each. */
export const askKeysKeptMax = 16_384

// Scanning batches (`http/ingest/scan-batch.ts`)
/** Names of racks, kegs and cellars in memory: 2 to the power of this number of sets, with `nameCacheWays` names in each. */
export const nameCacheSetBits = 12
/** With more, a search takes longer. With fewer, names in use replace each other. 16,384 names take at most 20 MB. */
export const nameCacheWays = 4
/** Lists for 1,000 readings, 32 KB each, that no batch uses now. With more than this number, the rest is collected. */
export const unusedColumnSlabsMax = 32
/** A smaller batch gets lists of its own length. So a batch takes at most twice the memory that its readings need. */
export const columnSlabReadingsMin = batchReadingsMax / 2
/**
 * Items of a batch that may be parsed alone, because they have an unusual form. One in `batchItemsPerOddItem` items may be parsed
 * alone, too. With more, `JSON.parse` reads the whole body, which is then faster.
 */
export const batchOddItemsMax = 16
export const batchItemsPerOddItem = 4
/** Such an item is longer only if it has unused data. Then the whole body is parsed, so that its data is read only once. */
export const oddItemBytesMax = 4 * 1024
/** A number of a batch that the scanner reads. Encoders write at most 25 characters. */
export const scannedNumberBytesMax = 32
/**
 * A reading can have this number of other fields, which are ignored. With more, the bound on structural characters
 * (`readingStructuralCharsMax`) could be exceeded: a reading has 11, and each other field adds 2.
 */
export const scannedOtherFieldsMax = 10

// Cost budget of a key (docs/contract.md, "Cost")
/**
 * A key may send requests that store nothing, such as refused ones, at a tenth of its rate limit. The next two bounds limit
 * this rate.
 */
export const costLimitDivisor = 10
export const costRequestsPerSecondMin = 100
export const costRequestsPerSecondMax = 10_000
/** For each request that a cost budget allows, it also allows this number of bytes of unpacked bodies. */
export const costBytesPerRequest = 640
/** A byte of a gzip body costs as much as this number of plain bytes, because unpacking can take as long as parsing those. */
export const costPerPackedByte = 8
export const costSavedMsMax = 60_000
/** This number of refused readings in a batch costs as much as one refused request, because they share one HTTP request. */
export const costItemsPerRequest = 100
/**
 * For each stored reading of a batch, this number of body bytes costs nothing. A valid reading takes more bytes only if its
 * JSON has escapes, spaces or unknown fields.
 */
export const storedReadingBytesMax = 2_048
/**
 * Keys whose cost budget stays in memory, at 100 bytes each. A further key replaces the key that was charged longest ago, which
 * then has a full budget again.
 */
export const costBudgetsMax = 10_000

// Idempotency keys (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency")
export const idempotencyKeyCharsMax = 255
export const idempotencyMs = 24 * 3_600_000
/** Idempotency keys are kept for this time after `idempotencyMs` has passed, because the clocks of nodes can differ. */
export const idempotencyMarginMs = 3_600_000
/**
 * Idempotency keys that can wait in memory until the follower has committed them: 56 MB, at 850 bytes each. If more wait, requests
 * with an idempotency key are refused until there is room.
 */
export const idempotencyWaitingMax = 65_536
/**
 * Bytes that an append reserves for an idempotency key. As JSON, its hashes and the facts of its batch take at most 375 bytes.
 */
export const encodedIdempotencyBytes = 380
/**
 * Pages of a key's readings that are read at once for idempotency keys that the index does not have yet. If more are missing, the
 * request is refused, and the next one reads on.
 */
export const repeatsGapPagesMax = 100
/** New idempotency keys wait in memory for about this time, and for the next heartbeat. */
export const repeatsFlushEveryMs = 250
/** A start waits at most this time for the index of idempotency keys. To check a large file, or to build it again, takes longer. */
export const idempotencyStartMsMax = 20_000
/**
 * A flush of new idempotency keys also deletes expired ones: at most this number more than it adds. So a long index gets
 * shorter.
 */
export const idempotencyForgottenAtOnceMax = 2_000

// The index for questions, `ask.db` (docs/decisions/033-one-follower.md)
/** Counts of cellars are kept for each minute of this time. */
export const askMinutesKeptMs = 48 * 3_600_000
/** Counts of keys are kept for each hour of this time. */
export const askHoursKeptMs = 30 * 24 * 3_600_000
/** Pairs of a key and a rack. Beyond this number, the pairs that were seen longest ago are deleted. */
export const askSeenRacksMax = 100_000
/** Pairs are deleted in groups, because finding the oldest ones reads the whole table: 40 ms. */
export const askSeenEvictedAtOnce = 5_000
/** A change also deletes old counts: at most this number more than it adds. So a long index gets shorter. */
export const askTrimmedAtOnceMax = 2_000
/** Each change also looks for old counts of this number of keys and of cellars, in turn, which it does not name. */
export const askOthersTrimmed = 8
/** Names of keys, streams and so on whose numbers the follower keeps in memory: about 100 bytes each. */
export const askNamesCachedMax = 16_384

// Unfinished bodies (docs/contract.md, "Cost"; `http/unfinished-bodies.ts`)
export const keyBodiesBytesMax = 16 * 1024 * 1024
export const deviceBodiesBytesMax = 64 * 1024 * 1024
/**
 * Memory for unfinished bodies over `readingBodyBytesMax`. The rest of `deviceBodiesBytesMax` stays free for single readings.
 */
export const deviceLargeBodiesBytesMax = 56 * 1024 * 1024
export const bodyHolderToldBytesMin = 1024 * 1024
export const bodyHoldersToldMax = 5
/** Memory for unfinished forms of one signed-in operator. The next bound is for all operators together. */
export const operatorFormsBytesMax = 1024 * 1024
export const operatorsFormsBytesMax = 16 * 1024 * 1024
/** Memory for unfinished forms of visitors from one IPv4 address or IPv6 /64. The next bound is for all visitors together. */
export const visitorAddressFormsBytesMax = 128 * 1024
export const visitorsFormsBytesMax = 4 * 1024 * 1024
/** Size of a form of a visitor who is not signed in. The longest sign-in form has 7.5 KB. */
export const visitorFormBodyBytesMax = 8 * 1024
/**
 * A body up to this size reserves no memory, because its connection takes as much anyway. A gzip body, or a body without
 * `Content-Length`, always reserves memory.
 */
export const bodyReservedBytesMin = 1024
/** After `bodyGraceMs`, the service gives up a body that arrives more slowly than this, because its memory stays reserved. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/**
 * A client that waits for a `100 Continue` must send the first byte of its body within this time, if Bun does not send the
 * `100`. Apache's HTTP client sends its body after it has waited for 3 s.
 */
export const continueWaitMs = 5_000
/**
 * How often unfinished bodies are checked. Each check restarts Bun's idle timers, which would otherwise close connections with
 * an unfinished body.
 */
export const bodyHeartbeatMs = 5_000
/**
 * A body up to this size is read in one piece, which takes 0.1 ms less than a stream. A usual batch of 1,000 readings has
 * 105 KB, so it is read in one piece, too.
 */
export const bodyInOnePieceBytesMax = 128 * 1024
/**
 * Each key, operator or address that sends a body has an entry in memory. Usually a heartbeat removes the entries without bodies,
 * because removing and adding a busy key for each reading would be slow. With more entries than this number, an entry is removed
 * as soon as its last body ends.
 */
export const bodyHoldersKeptMax = 10_000

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
export const keysPerCellarMax = 10_000
/** Tries to find an unused random id for a new key. Ids have 47 random bits, so even a second try is very unlikely. */
export const keyIdTriesMax = 3
/** A hundred years. A longer duration is a typing error. */
export const durationMsMax = 36_500 * 86_400_000
export const labelCodePointsMax = 80
export const noteCodePointsMax = 500
export const reasonCodePointsMax = 300
export const cellarTitleCodePointsMax = 120
/** Earlier names of a key or a cellar that a node remembers. The Log shows the id in place of an older name. */
export const pastNamesMax = 20

// Retention (docs/contract.md, "Retention and versioning")
/** Rate windows and idempotency keys need the events of the last 24 hours, so a shorter retention is refused. */
export const retentionMsMin = 24 * 3_600_000
/** Events are kept for this time after their retention has ended, because the clocks of nodes can differ. */
export const retentionMarginMs = 3_600_000
export const recordsKeptMs = { signins: 30 * 24 * 3_600_000, refusals: 30 * 24 * 3_600_000 } as const
/** Keys whose refusals one run of the retention looks at. A run comes each minute, so a day is enough for 360,000 keys. */
export const refusalStreamsPerSweepMax = 256
/** If the clock jumps further ahead than this, nothing is purged for `clockDoubtMs`. A wrong clock would purge too much. */
export const clockLeapMsMax = 24 * 3_600_000
export const clockDoubtMs = 24 * 3_600_000
/** Purges (one per key) that a cellar writes in one append. So many take about 200 KB, and EventStoreDB takes 1 MiB. */
export const purgesPerAppendMax = 256

// Messages about a log that this version cannot read
export const schemaDifferencesMax = 20
export const schemaNameCharsMax = 80
export const unreadableTypeCharsMax = 100
export const unreadableWhyCharsMax = 300

// Passwords
export const passwordCharsMin = 12
export const passwordBytesMax = 512
/** Only this number of characters at the start of a password is compared with the dictionary. More would take too long. */
export const passwordJudgedCharsMax = 64
/** A new password is refused if an attacker would need fewer guesses than this to find it. */
export const passwordGuessesMin = 10_000_000_000
/**
 * Comparing a new password with the dictionary usually takes 100 ms. If it takes longer than this, the password is compared
 * only with the e-mail and the names of cellars.
 */
export const passwordJudgementMsMax = 2_000
export const passwordCellarsMax = 1_000
/**
 * Shorter parts of an e-mail or of a cellar's name are not looked for in a new password, because many good passwords contain
 * such parts.
 */
export const guessedWordCharsMin = 3
/**
 * A new password that contains an e-mail or the name of a cellar needs this number of other letters and digits.
 * Attackers try such names first.
 */
export const ownPartCharsMin = 8
/**
 * Passwords from unknown browsers that wait to be hashed. A hash takes 80 ms, so 64 take about 5 s, the longest wait of a
 * request (`requestWaitMsMax`).
 */
export const passwordsWaitingMax = 64
/** Passwords from known browsers and signed-in people that wait to be hashed. They are hashed before all others. */
export const knownPasswordsWaitingMax = 16
/** Passwords from one IPv4 address or IPv6 /48 that wait to be hashed. Known and unknown browsers are counted separately. */
export const passwordsWaitingPerNetworkMax = 4

// Headers of a request
/**
 * Cookies, or addresses in `X-Forwarded-For`, that the service looks at. A browser sends at most 180 cookies, but 16 KiB have
 * room for thousands. Each address takes up to 5 µs.
 */
export const headerPartsMax = 200

// Sessions and links of operators
export const emailCharsMax = 254
export const sessionMsMax = 12 * 3_600_000
export const sessionIdleMsDefault = 2 * 3_600_000
export const sessionIdleMsMin = 60_000
/** A used session is renewed in the log at most once in a fourth of its idle time, because each renewal is an event. */
export const sessionRenewalDivisor = 4
export const sessionUsesMax = 10_000
export const sessionsPerOperatorMax = 20
/** Number of hex digits of a session's hash. These digits identify the session in the log and on pages, without its secret. */
export const sessionIdChars = 16
/** Ended sessions that stay in memory (100 KB), so that a page of an ended session is told to stop asking for updates. */
export const endedSessionsMax = 1_000
/** Browsers that the service knows from earlier sign-ins of one operator. A further browser replaces the oldest. */
export const devicesPerOperatorMax = 20
export const deviceMsMax = 400 * 86_400_000
export const linkMsMax = 24 * 3_600_000
/** Unused one-time links of one operator, or for the first operator. A further link replaces the oldest. */
export const linksOpenMax = 20
/** One-time links that other people created for an operator, and that each sign-in reports to the operator. */
export const linksToldMax = 5
export const linksToldMsMax = 30 * 86_400_000

// Sign-in attempts and their history
/** Failed sign-ins that are allowed in `signInWindowMs` for one account, known browser, IPv4 address or IPv6 /64. */
export const signInAttemptsMax = 10
/**
 * Failed sign-ins that are allowed in `signInWindowMs` from one IPv6 /48. This bound is higher than that of a /64, because a
 * /48 can belong to thousands of customers.
 */
export const signInSiteAttemptsMax = 40
export const signInWindowMs = 15 * 60_000
/**
 * Addresses whose failed sign-ins are counted in memory. The same bound holds for IPv6 /48 networks and for e-mails without an
 * account.
 */
export const signInSubjectsMax = 10_000
export const refusedSignInsToldMs = 60_000
/** Accounts that one event about refused sign-ins names. Others are only counted. */
export const refusedSignInAccountsMax = 50
export const refusedSignInAddressesMax = 5

// Summaries of refused readings
/** After the first refusal with a code, and then after each summary. The last pause repeats. */
export const refusalSummaryPausesMs = [10_000, 60_000, 600_000] as const
/** A summary is appended at most this long after its refusals, unless the store is away for longer, or there is no room. */
export const refusalSummaryMsMax = 900_000
export const refusalSamplesMax = 8
/** Keys whose refusals wait for a summary. */
export const refusalSumsKeysMax = 1_000
/** Samples that wait, of all keys. One takes about 400 bytes, and at most 1,500 with the longest names. */
export const refusalSamplesOfAllKeysMax = 2_000
/**
 * Bytes of summaries that a node earns in a day. With what it has saved up, it writes at most 64 MiB in 24 hours. If 1,000 keys
 * are always refused, each has a summary every 25 minutes.
 */
export const refusalSummaryBytesPerDay = 48 * 1024 * 1024
export const refusalSummaryBytesSavedMax = 16 * 1024 * 1024
/** A summary counts as this number of bytes besides its data: id, type, stream, metadata and framing. */
export const refusalSummaryBytesBesideData = 500
/** Summaries that a node appends at the same time. With more, 1,000 due summaries would delay the readings behind them. */
export const refusalAppendsAtOnce = 8

/**
 * Events that the account page reads from the operator's stream, and as many from the stream `signins-node`. That
 * stream has the addresses and browsers of all sign-ins.
 */
export const signInHistoryEventsMax = 1_000
export const signInHistoryRowsMax = 50
export const userAgentCharsMax = 300
export const browserCharsMax = 80

// Actors and their mailboxes (docs/protocol.md, "Appending a reading")
export const actorsMax = 20_000
export const actorIdleMs = 5 * 60_000
export const mailboxRequestsMax = 4_096
/** Readings that wait for one actor: 64 full batches, about 25 MB. Further readings are refused. */
export const mailboxReadingsMax = 65_536
export const mailboxCommandsMax = 64
export const requestWaitMsMax = 5_000
/**
 * How often actors check their waiting requests. Actors count `requestWaitMsMax` in heartbeats, so it must be a multiple of
 * this time.
 */
export const heartbeatMs = 500

// Appends of an actor
/** Buffers for packed rows on their way to the commit thread. With more rows, each further row gets memory of its own. */
export const rowBuffersMax = 16
/** For a batch of 1,000 readings. A buffer grows to at most 1 MiB if a row needs it, and keeps its size. */
export const rowBufferBytes = 64 * 1024
/** A smaller row gets memory of its own, because a copy of it takes little time. */
export const bufferedRowBytesMin = 8 * 1024
export const appendBytesMax = 512 * 1024
export const appendReadingsMax = 4_096
export const conflictRetriesMax = 64
/**
 * After this number of failed tries to append a seal event (docs/protocol.md), a revocation first suspends the key, so that
 * busy nodes stop writing.
 */
export const sealTriesMax = 8
/** First pause before an append with an unknown outcome is sent again. The pause doubles up to `storeRetryPauseMsMax`. */
export const storeRetryPauseMsMin = 10
export const storeRetryPauseMsMax = 1_000
/** Retries of an append with an unknown outcome, for about an hour. Then the actor reads the log again to learn the outcome. */
export const storeRetriesMax = 3_600
/**
 * The longest pause in which a node lets another node append to the same stream. Without pauses, one node wins every conflict.
 */
export const givingWayMsMax = 100
/**
 * A busy node pauses for this time. So nodes far from EventStoreDB, with a round trip up to half of this time, can append, too.
 */
export const farTurnMs = 50
/** How often a busy node pauses for `farTurnMs`, which takes at most a twelfth of its time. */
export const farTurnEveryMs = 600
/**
 * How long after a conflict in a stream a node still makes pauses for other nodes. The node counts this time in heartbeats, so
 * it must be a multiple of `heartbeatMs`.
 */
export const sharedStreamMs = 5_000
/**
 * Another node finishes a revocation that is incomplete after this time. The node counts this time in heartbeats, so it must be
 * a multiple of `heartbeatMs`.
 */
export const revocationFinishMs = 2_000

// Clocks of nodes (docs/protocol.md, "Versions and clocks")
/** A clock that jumps further ahead than this is trusted only when it has stayed ahead for `clockStandMs`. */
export const clockStepMsMax = 1_000
export const clockStandMs = 5_000
/** If the time of an event is more than this ahead of this node's clock, the node warns that the clocks of nodes differ. */
export const clockDifferenceMsMax = 1_000
/**
 * A clock warning ends after this time without an event that is ahead of the clock. The node counts this time in heartbeats, so
 * it must be a multiple of `heartbeatMs`.
 */
export const clockCalmMs = 60_000
/** The line about lost changes names at most this many keys, and this many cellars. */
export const lostNamesMax = 1_000
/** If an event of another node arrives more than this after it was recorded, the node reports a lag. */
export const lagMsMax = 5_000
/**
 * After this time without a late event, the node no longer reports a lag. The node counts this time in heartbeats, so it must
 * be a multiple of `heartbeatMs`.
 */
export const lagCalmMs = 10_000

// Queue in front of the log
export const logQueueReadingsMax = 65_536
export const logQueueBytesMax = 16 * 1024 * 1024
/**
 * Waiting changes: events that are neither readings nor summaries of refused ones. They have room of their own, so that waiting
 * readings never keep out a revocation.
 */
export const logQueueChangesMax = 4_096
export const logQueueChangesBytesMax = 4 * 1024 * 1024

// Embedded log
/**
 * Streams whose last revision stays in memory, at about 100 bytes each. For other streams, the revision is read from the log's
 * file.
 */
export const storeStreamsRememberedMax = 50_000
/** A search or an export on EventStoreDB asks again after this time whether a stream was truncated. */
export const truncationKeptMs = 1_000
/**
 * Reads of the whole log whose order of rows stays in memory between two pages. A further one makes the oldest of them
 * inexact, so that it does not find a missing last row of a stream. As many reads that began inside the log are kept.
 */
export const storeReadsRememberedMax = 4
/** SQLite's page cache for writing. It can be small, because the operating system caches the file, too. */
export const storeWriteCacheBytes = 4 * 1024 * 1024
/** SQLite's page cache for reading. It can be small: only searches for the ends of streams use a page more than once. */
export const storeReadCacheBytes = 1 * 1024 * 1024
/** Rows that the derived store's source reads at once. With fewer, the start of each statement counts. */
export const sourcePageRowsMax = 128
/** A further row is read only below this size. So a page takes at most this and its largest row. */
export const sourcePageBytesMax = 1024 * 1024
/** A further row is read only below this number of events. The models fold a page in one piece, which takes a few ms. */
export const sourcePageEventsMax = 4_096
/** Events that wait for a slow reader of a subscription, at about 1 KB each. With more, they are read when the reader asks. */
export const sourceWaitingEventsMax = 10_000
/** Names in the source's memory: 2 to the power of this number of sets (`nameCacheWays`). 131,072 names. */
export const sourceNameSetBits = 15
/** Time for reads of the log in one turn of the event loop. A read that has begun may take longer. */
export const storeReadMsPerTurnMax = 2
/**
 * At this size, SQLite's write-ahead log is copied into the log's file, which takes 5 ms. With a quarter of this size, copying
 * would take three times as much time in total.
 */
export const storeWalBytesMax = 16 * 1024 * 1024
/** If more than this waits to be copied, another program holds the copying back. A warning says so. */
export const walHeldBytesMin = 4 * storeWalBytesMax
/**
 * If the write-ahead log has begun anew this often since a copy was made, a start still notices the older copy. A larger number
 * would take the random salts of new files for an older copy more often. With this number, one in four million would be wrong.
 */
export const walBeginningsMax = 1_000
export const checkpointRetryPauseMs = 1_000
/**
 * Commit groups under way: one is written, and one waits, so that the commit thread need not wait for the event loop. After a
 * failed commit, both groups get new positions, and the log can keep the order of only two groups.
 */
export const groupsUnderWayMax = 2
/**
 * Shared memory for each commit group under way. It holds eight full batches with names of 32 characters. JavaScriptCore counts
 * it as part of the heap, so more would cause more collections of the whole heap. A larger group gets memory of its own, up to
 * `logQueueBytesMax` and 48 bytes for each row.
 */
export const commitRegionBytes = 512 * 1024
/** Truncated events that one transaction deletes. With more, appends would wait too long for the transaction. */
export const trimEventsMax = 256
/**
 * Retries of a commit group after another program has written rows at the same positions. If the last retry meets such rows
 * too, the appends of the group fail.
 */
export const overlapRetriesMax = 1
/**
 * `log verify` and the daily check read this number of rows, or these bytes, in one transaction. With more, SQLite could not
 * empty its write-ahead log for long.
 */
export const checkedRowsPerStep = 256
export const checkedStepBytes = 256 * 1024
export const checkedIndexEntriesPerStep = 512
/** A row counts as this number of bytes besides its body: its other columns, and its entry in the index. */
export const checkedBytesBesideBody = 64
/** Names of streams that a check keeps in memory. */
export const checkedNamesMax = 256
/**
 * Ids of streams are consecutive, but damage can have deleted some. An id that is further from the last one counts as damaged,
 * because a check takes 24 bytes for each id.
 */
export const checkedStreamIdGapMax = 1_024
/** SQLite names at most this number of damaged pages. */
export const checkedPageFaultsMax = 100
/** A running service checks its log once a day, and at this time after each start. */
export const checkDelayMs = 5_000
export const checkEveryMs = 24 * 3_600_000
/** The daily check reads at most 16 MB a second, so that it leaves the disk to the service. */
export const checkedBytesPerSecondMax = 16_000_000
/** The daily check rests at least this many times as long as it works. So it uses at most a fifth of a processor core. */
export const checkRestFactor = 4
/** A write waits at most this time if another program has locked the database. */
export const storeBusyMsMax = 250
export const internedNamesMax = 8_192
export const internedNameBytesMax = 512

// A full disk (docs/contract.md, "Cost")
/**
 * Default of `DISK_RESERVE`. Readings are refused if the free disk space and the log's empty pages together are less than this.
 */
export const diskReserveBytesDefault = 256 * 1024 * 1024
export const diskReserveBytesMin = 64 * 1024 * 1024
/**
 * Readings are refused below this free disk space, even if the log has empty pages. Other events, like revocations, need this
 * space.
 */
export const diskFreeBytesMin = 64 * 1024 * 1024
/**
 * After a full disk, readings are stored again when the free space is this much above `DISK_RESERVE` and `diskFreeBytesMin`.
 * Without this margin, readings would soon be refused again.
 */
export const diskRecoveryBytes = 16 * 1024 * 1024
export const diskLookMs = 1_000
/** The shortest pause between two checks of the free disk space, when the disk is nearly full. */
export const diskLookMsMin = 50
/** If a check of the free disk space takes longer than this, the node warns that the free space is unknown. */
export const diskAnswerMsMax = 5_000
/** The log never writes faster than this. The disk is checked again before writing at this rate could fill it. */
export const diskBytesPerSecondMax = 128 * 1024 * 1024

// Failures that a node reports, in checks in a row (`domain/trouble.ts`)
export const troubleLookMs = 1_000
/** An overload is reported when this number of checks in a row found refused requests. */
export const overloadedLooksMin = 5
/**
 * Failed writes to EventStoreDB are reported after this number of checks in a row. The election of a leader takes less time, so
 * it is not reported.
 */
export const storeWritesFailLooks = 3
/** A reported failure counts as over when this number of checks in a row did not find it. */
export const troubleCalmLooks = 10
/** A failed fsync whose retry succeeded is reported for this number of checks: an hour. */
export const survivedFsyncLooks = 3_600

// Copying a log
/**
 * Size of one append to the copy, as JSON. No log stores an append in a form larger than JSON, so SQLite and EventStoreDB both
 * accept this size.
 */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** Retries while a log is unavailable: five minutes. Then the copying ends, and a later command can continue it. */
export const copyRetriesMax = 600
export const copyRetryPauseMs = 500

// EventStoreDB (`log/eventstoredb/eventstoredb-log.ts`)
export const eventStoreAppendsOutMax = 64
/**
 * Without an answer in this time, the outcome of an append is unknown. In an election, EventStoreDB sometimes never answers. A
 * second try must fit into `requestWaitMsMax`. A shorter pause of EventStoreDB, as on a busy machine, refuses nothing.
 */
export const eventStoreAppendMsMax = 2_000
/**
 * How often appends without an answer are checked. `troubleLookMs` is counted in these checks, so it must be a multiple of this
 * time.
 */
export const eventStoreLookMs = 100
/** EventStoreDB accepts at most about 1 MiB of data and metadata in one append. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/** If EventStoreDB does not confirm a subscription in this time, the node reports a failure. */
export const eventStoreUnheardMsMax = 5_000
/**
 * A read of all streams can take this time: EventStoreDB can skip millions of events silently. Pings show that EventStoreDB
 * still runs.
 */
export const eventStoreScanMsMax = 600_000
/** Reads that have found nothing in their time, and go on (`store-reads.ts`). Each keeps a thread of EventStoreDB busy. */
export const storeScansKeptMax = 4
/** Streams whose truncation is asked for at once, before a page of the whole log is returned. */
export const truncationReadsMax = 64
/** After a conflict, a read can still miss the event that caused the conflict. The node pauses this time and reads again. */
export const eventStoreShowMs = 5
/**
 * A connection without data for this time gets a ping. Without an answer in `eventStoreKeepAliveTimeoutMs`, it is closed. Only a
 * server that is frozen or cut off needs that: the connection to a killed one breaks at once.
 */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 2_000
export const eventStoreAskMsMax = 1_000
export const eventStoreRetryPauseMs = 100
export const eventStoreStartMsMax = 5_000
/** Size of a message from EventStoreDB, which allows 16 MiB for one event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
export const eventStoreHearingBytes = 1024 * 1024
export const eventStoreSearchWindowEvents = 1_024

// Reading the log
export const readPageEventsMax = 1_000
/**
 * An event can be recorded this much before an event that stands before it in the log. Clocks of nodes differ by a second, a jump
 * of a clock is believed after five, and a request waits five for the store.
 */
export const recordedSkewMsMax = 10_000
/** Streams along which the search for an instant goes ahead at once. */
export const instantStreamsMax = 16
/** Pages that the search reads one after the other when the streams of a page did not lead further. */
export const instantPagesMax = 16
/** The events of a request are recorded within this time. A reading is answered after 5 s at most. */
export const requestSearchMs = 60_000
/** A minute of events at the highest rate. Comparing them takes some seconds. */
export const requestSearchEventsMax = 1_000_000
/** Rows of `ask.db` that one step of a search reads. That takes less than a millisecond, and 4 ms if no row is in memory. */
export const askRowsAtOnceMax = 32
/** A question to `ask.db` takes steps for this time in each of its turns on the thread for questions. */
export const questionTurnMs = 1
/** Places whose texts one step of a search reads. Each place can have five, and most of them are the same for many places. */
export const askFoundAtOnceMax = 16
/** A search reads so few rows of each type first, because most types are rare. */
export const askRowsAtOnceMin = 8
/** Places that a look-up of one id returns. A request that changes many keys has one event for each of them. */
export const askPlacesOfIdMax = 1_000
/** Events that are folded for the state before an event. Most streams of keys, cellars and operators are much shorter. */
export const stateBeforeEventsMax = 10_000
/** Events on each side of an event in which its page looks for the same request, by one read. A batch has no more readings. */
export const sameRequestEventsMax = 1_000
/** Keys whose cellars a search remembers. */
export const searchedKeysMax = 10_000
/**
 * Events that a new actor reads from the end of its stream. The number is small, because after a start all actors read at once.
 */
export const tailEventsMax = 16
/**
 * Pages of other nodes' readings that an actor reads one by one. If there are more, the actor drops its state and loads it from
 * the end of the stream, because that reads fewer events.
 */
export const catchUpPagesMax = 3
/**
 * An open page makes an actor read other nodes' readings at most once in this time, so that pages cause few reads. The actor
 * counts this time in heartbeats, so it must be a multiple of `heartbeatMs`.
 */
export const usageCatchUpMs = 2_000

// The model of what a start needs (`src/derived/beginning/`)
/** What is not flushed when the process dies, the next start reads from EventStoreDB. */
export const beginningFlushEveryMs = 10_000
/** The rows that are read at once: about 5 ms. */
export const beginningRowsPerCheckStep = 1_000

// The model of readings (`src/derived/readings/`)
/** Pages that show readings ask for what they need at once. So this only bounds what is folded again after a crash. */
export const readingsFlushEveryMs = 10_000
/** Points of a minute are kept for this time. Points of an hour are kept as long as readings. */
export const minutesKeptMs = 48 * 3_600_000
/** Kegs whose points of a minute or an hour share a row. With more, a row would not fit into a quarter of a page of the file. */
export const kegsPerCell = 32
/** Requests of a keg that are remembered, to know its usual pause. */
export const arrivalsPerKegMax = 6
/** Kegs that stay in memory after a flush: about 900 bytes each. A further keg is read from the file when it is used. */
export const kegsInMemoryMax = 16_384
/** A question gives way after this number of rows or look-ups: about 1 ms. */
export const readingsAskedPerStep = 500

/** Kegs of one cellar. A further keg makes the cellar forget one. */
export const kegsPerCellarMax = 10_000
export const pointsPerKegMax = 24
export const latestReadingsPerCellarMax = 50
/**
 * Seal and fence events (docs/protocol.md) of one key that stay in memory. Only commands of admins cause such events, so they
 * are few.
 */
export const barriersPerKeyMax = 1_000
/** Keys whose last refusal stays in memory. A further key replaces the key that was refused longest ago. */
export const lastRefusalsMax = 10_000
/** Keys whose last check stays in memory. A further key replaces the key that was checked longest ago. */
export const lastChecksMax = 10_000

// Live pages
export const liveStreamsMax = 512
export const liveHeartbeatMs = 10_000
/** Time between two updates of an open page. `liveHeartbeatMs` is counted in updates, so it must be a multiple of this time. */
export const livePushMs = 500
/** Bytes of updates that wait for a slow browser. With more, updates are skipped. */
export const liveBytesWaitingMax = 256 * 1024
/**
 * Live pages of one session that hold a connection. Further pages poll, one at a time. Over HTTP/1.1, browsers open six connections to
 * a host, so one is always free for what people click.
 */
export const liveStreamsPerSessionMax = 4
/** How soon a page connects again when its stream is lost. */
export const liveReconnectMs = 500
/** How soon a page that polls asks again: after its answer, and after it found another page of the session polling. */
export const livePollMs = 4_000
export const liveBusyPollMs = 1_000
/**
 * Time for rendering live pages in each `livePushMs`, so that readings are not delayed. A piece of work that has begun may take
 * longer.
 */
export const liveRenderMsPerTick = 100
/**
 * A page that took 1 ms to render waits this number of ms before its next rendering, but at most `liveHeartbeatMs`. So a page
 * that is slow to render uses little processor time.
 */
export const liveRestFactor = 50
/** A live page that lists events is rendered for new readings this rarely. It must be a multiple of `livePushMs`. */
export const liveReadingsMs = 2_000
/** Renderings that wait for an answer. With more, no page is rendered. */
export const liveStoreWaitsMax = 32
export const liveSentPerPiece = 32
export const liveSentBytesPerPiece = 1024 * 1024
/** Keys that a page counts in one turn of the event loop, which takes about 1 ms. */
export const keysCountedPerPiece = 500
/** Keys that a page asks for their rate windows at the same time. It must divide `keysCountedPerPiece`. */
export const keysAskedAtOnceMax = 100

// Exports
export const exportsMax = 3
/** Exports of all auditors together. The other places are for admins. */
export const exportsOfAuditorsMax = 2
export const exportsPerOperatorMax = 1
/**
 * Exports that an operator begins in `exportWindowMs`, on one node. Each writes two records that are kept for ever, of 0.5 KB and at
 * most about 5 KB. So an operator writes at most 15 MB a day.
 */
export const exportsBegunMax = 60
export const exportWindowMs = 3_600_000
/**
 * The connection of an export that was cut off closes after this time. Bun's timers have steps of 4 s, so it can take 4 s more.
 */
export const exportCutOffSeconds = 1
/**
 * A client must take its export at this rate, because it holds one of `exportsMax` places. It may rest for `exportSpareMsMax`
 * in all, and earns that time back when it takes bytes faster.
 */
export const exportBytesPerSecondMin = 32 * 1024
/**
 * The kernel buffers some MB, and takes more only when a third of them has left. A client at the lowest rate seems to rest for 40 s
 * then.
 */
export const exportSpareMsMax = 60_000
/** How often the clients and sessions of exports are checked. */
export const exportLookMs = 5_000
/** An export waits for the store for this time. An election, or one late answer to a ping, takes less. */
export const exportOutageMsMax = 30_000
export const exportRetryPauseMs = 250
/** The end of an export is recorded again for this time while the store is unavailable. A stop of the service waits for it. */
export const exportEndMsMax = 5_000
/** A field of the filter. The record of the export keeps it for ever, and no name or e-mail is longer. */
export const exportFieldCharsMax = 300
/** Keys that an export writes in one turn of the event loop. */
export const exportPageKeys = 200
/** A page of an export ends after this time on the thread for questions. Other questions have their turns meanwhile. */
export const exportPageMs = 200

/** `log export --resume` looks for the last event in the last bytes of the file. One event takes less. */
export const exportTailBytes = 4 * 1024 * 1024
export const progressBarChars = 24

// The Log page
export const logEventsPerPageMax = 50
/** Rows of single minutes on a page. Further minutes between two events are one row. */
export const minuteRowsShownMax = 60
/** Minutes that a page counts, for each cellar one. Then the page ends, even if it has few events. */
export const minuteRowsPerPageMax = 600
/** A text in the address of the Log page. */
export const logQueryCharsMax = 300
/** Keys with the same label that the box of the Log page offers. `Key 1` can be the label of a key in each cellar. */
export const labelChoicesMax = 20
/** Cellars, and racks, that the box offers for a part of a name. */
export const namesOfferedMax = 10
/** Pairs of a key and a rack that the box looks at. Several keys can have sent the same rack. */
export const racksComparedMax = 100
/** A search for a page ends after this time with what it has. The page then offers to go on. */
export const logSearchMs = 120
/** A page waits for one read of a store this long. Meanwhile, the store passes about 100,000 events of other programs. */
export const logReadMs = 1_000
/** Events that a search reads before it looks at the time again. Each can lie in another part of the log. */
export const listedAtOnceMax = 50
/** Then the page of a list stops to fold what was before its events. The other rows say only the new values. */
export const logComparedMs = 50
/** With more cellars, readings of all cellars together are one row a minute. */
export const cellarsCountedByMinuteMax = 20
export const minutesCountedPerTurn = 60
/** How far back minutes are counted (`askMinutesKeptMs`). */
export const minuteRowsMs = 48 * 3_600_000
export const barsMax = 60
/** Cellars that the filter of the Log page suggests. */
export const cellarsSuggestedMax = 200
export const sameRequestShownMax = 20
/** Sign-ins that are compared with the session of an event. */
export const signInsSearchedMax = 50
/** Summaries that are compared with the id of a refused request. */
export const summariesSearchedMax = 500
/** How long before a refusal changes of its key are told. */
export const changesBeforeRefusalMs = 24 * 3_600_000
export const changesBeforeRefusalMax = 5
export const summariesOfferedMax = 20
/** Rows of refusals on the page of a cellar. */
export const refusalRowsMax = 10
/** Summaries on the page of a key. */
export const lastRefusalsShownMax = 3

// Pages and their forms
/**
 * Pages that are made at once. A browser asks for at most six at once over HTTP/1.1. Each page in progress
 * delays those of other operators by a piece of work in each turn of the event loop.
 */
export const pageTurnBounds = {
  runningMax: 64,
  runningPerOperatorMax: 4,
  waitingMax: 512,
  waitingPerOperatorMax: 32,
} as const
/** Rows of a page. Readings would wait too long while a longer page is rendered. */
export const keysPerPageMax = 100
export const cellarsPerPageMax = 100
/** Keys at an earlier instant. The page reads the stream of each key, so it has fewer rows than the list of keys has now. */
export const keysThenPerPageMax = 50
/** Readings that pages have read from the log last, and keep: about 600 bytes each. */
export const recentReadingsKeptMax = 1_000
export const kegsPerPageMax = 100
export const historyRowsPerPageMax = 100
export const kegFilterCharsMax = 257
export const kegFilterWordsMax = 8
export const formBodyBytesMax = 64 * 1024

// The process
export const unavailableRetryAfterSeconds = 1
/**
 * A connection without data is closed after this time, or up to 4 s before, because Bun's timers have steps of 4 s. It is above
 * `liveHeartbeatMs`, so that live pages stay open. Before its first request, a connection has only 10 s, which Bun decides.
 */
export const connectionIdleSecondsMax = 80
/** With fewer free file descriptors, idle connections are closed. The files and threads of the service need a few of them. */
export const descriptorsFreeMin = 32
/**
 * Answers to stored readings promise this time to an idle connection (`Keep-Alive: timeout=75`). So a device that sends once a
 * minute keeps its connection.
 */
export const keepAliveSecondsMin = 75
export const expirySweepMs = 60_000
/** When the service stops, it first answers with `Connection: close` for this time, so that clients leave. */
export const drainNoticeMs = 500
export const drainMsMax = 10_000
export const drainLookMs = 10
/**
 * One Ctrl-C can arrive twice: from the terminal, and from npx or bun, which pass it on. A second one in this time is ignored.
 */
export const sameSignalMsMax = 500
export const launcherLookMs = 250

// The command line and its socket
/** Size of one command as JSON. Every command line is shorter, so this bound refuses no real command. */
export const operationBytesMax = 8 * 1024 * 1024
/** Events that `log read` reads at once. With more, readings of devices would wait too long. */
export const logReadPageEvents = 200
/** How often `log read --follow` looks for new events. */
export const followPauseMs = 250
/** A line of an answer that waits for further lines is sent after this time. */
export const lineWaitMs = 50
export const heldWaitMsMax = 10_000
export const heldRetryMs = 100
/** A start asks the socket of a held data folder for this time at most. */
export const servedAnswerMsMax = 1_000
export const progressRedrawMs = 200
export const progressLineMs = 5_000
export const simulatedDevicesMax = 10_000
export const simulatedRateMax = 100_000
export const simulatedPostMsMax = 10_000

// Log lines
export const logLinesBytesMax = 4 * 1024 * 1024
export const refusalLineMs = 1_000
export const refusalLineNamesMax = 5
/**
 * A log line counts the refused requests of the most frequent keys with this number of counters, and those of addresses with as
 * many. A count is too low by at most a 257th of all refused requests.
 */
export const refusalLineCountersMax = 256
/** Errors that are logged in full in each `errorLineMs`. Further errors are only counted. A stack trace has 1 to 2 KB. */
export const errorLinesMax = 10
export const errorLineMs = 1_000
/** Log lines about refused sign-ins, forms and links in each `traceLineMs`. The last of them sums up further refusals. */
export const traceLinesMax = 10
export const traceLineMs = 1_000
