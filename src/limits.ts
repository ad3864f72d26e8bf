/** Every bound, with its unit in its name. Nothing queues, loops, retries or stays in memory without one. */

// One reading (docs/contract.md, "One reading")
export const readingBodyBytesMax = 16 * 1024
export const nameCodePointsMax = 128
export const futureSkewMsMax = 10 * 60_000

// Batches (docs/contract.md, "Limits")
export const batchReadingsMax = 1_000
export const batchBodyBytesMax = 1024 * 1024
/** For a batch twice as fast as Node's 16 KiB. */
export const gunzipChunkBytes = 128 * 1024
/** As JSON: EventStoreDB refuses appends over 1 MiB. */
export const batchEncodedBytesMax = 1_000_000
/** Id, type, metadata and framing: at most 360. */
export const encodedReadingBytesBesideData = 400

// Structure of a body: the cost of `JSON.parse` (docs/contract.md, "Cost")
export const jsonNestingMax = 32
/** Characters `{}[]:,` outside strings. Five fields have 11. */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
export const batchNamesMax = 3_000

// Cost budget of a key, for requests that store nothing (docs/contract.md, "Cost")
/** Of the readings per second of the key's limit. */
export const costLimitDivisor = 10
export const costRequestsPerSecondMin = 100
export const costRequestsPerSecondMax = 10_000
/** Of the unpacked body. */
export const costBytesPerRequest = 640
export const costSavedMsMax = 60_000
/** Refused readings of a batch. */
export const costItemsPerRequest = 100
/** Body bytes that a stored reading pays for. Without escapes, no valid one is longer. */
export const storedReadingBytesMax = 2_048
/** Keys, at 100 bytes each. A forgotten key has a full budget. */
export const costBudgetsMax = 10_000

// Idempotency keys (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency")
export const idempotencyKeyCharsMax = 255
export const idempotencyMs = 24 * 3_600_000
/** Clocks of nodes differ: after this margin, all have forgotten a key. */
export const idempotencyMarginMs = 3_600_000
/** Keys of 850 bytes: 56 MB. A batch of the first version also counts its verdicts. */
export const idempotencyWaitingMax = 65_536
/** At most 406 as JSON. `encodedReadingBytesBesideData` leaves room for it in a full batch. */
export const encodedIdempotencyBytes = 410
/** The rest waits for the next heartbeat. */
export const idempotencyWrittenAtOnce = 4_096
/** Between saves of the log position, from which a start reads. */
export const idempotencyMarkMs = 5_000
/** Failed writes in a row before the node reports them. */
export const idempotencyBusyWritesMin = 2
/** Read for a lost index before the node serves. */
export const idempotencyStartPagesMax = 200
/** The same, if the store must skip other events. */
export const idempotencyStartMsMax = 5_000
/** With each change, besides as many as were added. */
export const idempotencyForgottenAtOnceMax = 2_000

// Unfinished bodies (docs/contract.md, "Cost"; `http/unfinished-bodies.ts`)
export const keyBodiesBytesMax = 16 * 1024 * 1024
export const deviceBodiesBytesMax = 64 * 1024 * 1024
/** Over `readingBodyBytesMax`: stalled batches leave room for single readings. */
export const deviceLargeBodiesBytesMax = 56 * 1024 * 1024
export const bodyHolderToldBytesMin = 1024 * 1024
export const bodyHoldersToldMax = 5
/** Forms of one operator, and of all. */
export const operatorFormsBytesMax = 1024 * 1024
export const operatorsFormsBytesMax = 16 * 1024 * 1024
/** Forms of one address (IPv6: /64), and of all visitors. */
export const visitorAddressFormsBytesMax = 128 * 1024
export const visitorsFormsBytesMax = 4 * 1024 * 1024
/** A sign-in form with the longest fields has 7.5 KB. */
export const visitorFormBodyBytesMax = 8 * 1024
/** Up to this size, a plain body reserves nothing: its connection takes as much. */
export const bodyReservedBytesMin = 1024
/** After `bodyGraceMs`, a slower body ends. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/** Well below `connectionIdleSecondsMax`, which each heartbeat renews. */
export const bodyHeartbeatMs = 5_000
/** A full batch has 105 KB. Reading it as a stream costs 0.1 ms more. */
export const bodyInOnePieceBytesMax = 128 * 1024
export const bodyHoldersKeptMax = 10_000

// Keys (docs/contract.md, "Keys" and "Rate limiting")
export const keyLimitDefault = { readings: 6_000, windowMs: 60_000 } as const
export const keyLimitReadingsMax = 10_000_000
export const keyWindowMsMin = 1_000
export const keyWindowMsMax = 24 * 3_600_000
export const rateWindowSlots = 64
export const rotationOverlapsMs = [0, 3_600_000, 24 * 3_600_000, 7 * 24 * 3_600_000] as const
export const rotationOverlapMsDefault = 24 * 3_600_000
export const keysPerCellarMax = 10_000
/** 47 bits make even one repeated id very unlikely. */
export const keyIdTriesMax = 3
/** A hundred years: more is a typing error. */
export const durationMsMax = 36_500 * 86_400_000
export const labelCodePointsMax = 80
export const noteCodePointsMax = 500
export const reasonCodePointsMax = 300
export const cellarTitleCodePointsMax = 120

// Retention (docs/contract.md, "Retention and versioning")
/** Rate windows and idempotency keys still count these events. */
export const retentionMsMin = 24 * 3_600_000
/** Kept longer, since clocks of nodes differ. */
export const retentionMarginMs = 3_600_000
/** By category. */
export const recordsKeptMs = { signins: 30 * 24 * 3_600_000 } as const
/** After a larger jump, nothing is purged for `clockDoubtMs`. */
export const clockLeapMsMax = 24 * 3_600_000
export const clockDoubtMs = 24 * 3_600_000
/** Keys in one append to their cellar: about 200 KB. */
export const purgesPerAppendMax = 256

// Messages about a log that this version cannot read
export const schemaDifferencesMax = 20
export const schemaNameCharsMax = 80
export const unreadableTypeCharsMax = 100
export const unreadableWhyCharsMax = 300

// Passwords
export const passwordCharsMin = 12
export const passwordBytesMax = 512
/** Longer texts take too long to judge. */
export const passwordJudgedCharsMax = 64
/** A password that needs fewer guesses is refused. */
export const passwordGuessesMin = 10_000_000_000
/** Usually 100 ms. Then names alone decide, and a hash still fits in `requestWaitMsMax`. */
export const passwordJudgementMsMax = 2_000
export const passwordCellarsMax = 1_000
/** Many good passwords contain shorter parts of names. */
export const guessedWordCharsMin = 3
/** Letters and digits besides the names in a password. */
export const ownPartCharsMin = 8
/** From strangers: a hash takes 80 ms, and 64 about `requestWaitMsMax`. */
export const passwordsWaitingMax = 64
/** From known browsers and signed-in people: hashed first. */
export const knownPasswordsWaitingMax = 16
/** From one IPv4 address or IPv6 /48, in each of the two queues. */
export const passwordsWaitingPerNetworkMax = 4

// Sessions and links of operators
export const emailCharsMax = 254
export const sessionMsMax = 12 * 3_600_000
export const sessionIdleMsDefault = 2 * 3_600_000
export const sessionIdleMsMin = 60_000
/** At most one renewal in this part of the idle time. */
export const sessionRenewalDivisor = 4
export const sessionUsesMax = 10_000
export const sessionsPerOperatorMax = 20
/** Hex digits of its hash, for the log and pages. */
export const sessionIdChars = 16
/** So that their open pages stop asking: 100 KB. */
export const endedSessionsMax = 1_000
/** Browsers. One more removes the oldest. */
export const devicesPerOperatorMax = 20
export const deviceMsMax = 400 * 86_400_000
export const linkMsMax = 24 * 3_600_000
/** Of one operator, or of the set-up. One more removes the oldest. */
export const linksOpenMax = 20
/** Made by other people, and reported at each sign-in. */
export const linksToldMax = 5
export const linksToldMsMax = 30 * 86_400_000

// Sign-in attempts and their history
/** Failed attempts per account, known browser, IPv4 address or IPv6 /64. */
export const signInAttemptsMax = 10
/** Per IPv6 /48: of one customer, or of thousands. */
export const signInSiteAttemptsMax = 40
export const signInWindowMs = 15 * 60_000
/** Addresses, and as many /48 networks and e-mails without an account. */
export const signInSubjectsMax = 10_000
export const refusedSignInsToldMs = 60_000
/** Named in one such event; others are only counted. */
export const refusedSignInAccountsMax = 50
export const refusedSignInAddressesMax = 5
/** Of the operator, and as many of `signins-node`. */
export const signInHistoryEventsMax = 1_000
export const signInHistoryRowsMax = 50
export const userAgentCharsMax = 300
export const browserCharsMax = 80

// Actors and their mailboxes (docs/protocol.md, "Appending a reading")
export const actorsMax = 20_000
export const actorIdleMs = 5 * 60_000
export const mailboxRequestsMax = 4_096
/** 64 full batches, about 25 MB. */
export const mailboxReadingsMax = 65_536
export const mailboxCommandsMax = 64
export const requestWaitMsMax = 5_000
/** Divides `requestWaitMsMax`. */
export const heartbeatMs = 500

// Appends of an actor
export const appendBytesMax = 512 * 1024
export const appendReadingsMax = 4_096
export const conflictRetriesMax = 64
/** Then the key is suspended, and the seal tried again. */
export const sealTriesMax = 8
/** After an unknown outcome: doubled from the first to the second. */
export const storeRetryPauseMsMin = 10
export const storeRetryPauseMsMax = 1_000
/** An hour. Then the actor reads the log again. */
export const storeRetriesMax = 3_600
/** The longest pause for another node's append. */
export const givingWayMsMax = 100
/** A pause for far nodes: enough if a round trip takes half of it. */
export const farTurnMs = 50
/** A node loses at most a twelfth of its time to `farTurnMs`. */
export const farTurnEveryMs = 600
/** A stream counts as shared this long after a conflict; a multiple of `heartbeatMs`. */
export const sharedStreamMs = 5_000
/** Another node finishes a revocation after this; a multiple of `heartbeatMs`. */
export const revocationFinishMs = 2_000

// Clocks of nodes (docs/protocol.md, "Versions and clocks")
/** A clock that jumps further ahead is trusted after `clockStandMs`. */
export const clockStepMsMax = 1_000
export const clockStandMs = 5_000
/** An event from further ahead shows that clocks differ. */
export const clockDifferenceMsMax = 1_000
/** Clocks agree again after this; a multiple of `heartbeatMs`. */
export const clockCalmMs = 60_000
/** Of events from other nodes. */
export const lagMsMax = 5_000
/** Events are in time again after this; a multiple of `heartbeatMs`. */
export const lagCalmMs = 10_000

// Queue in front of the log
export const logQueueReadingsMax = 65_536
export const logQueueBytesMax = 16 * 1024 * 1024
/** For other events: readings must not keep out a revocation. */
export const logQueueChangesMax = 4_096
export const logQueueChangesBytesMax = 4 * 1024 * 1024

// Embedded log
/** Streams with a remembered revision: about 100 bytes each. */
export const storeStreamsRememberedMax = 50_000
/** SQLite's page cache. The operating system caches the rest. */
export const storeWriteCacheBytes = 4 * 1024 * 1024
/** For the ends of streams: other reads never go back. */
export const storeReadCacheBytes = 1 * 1024 * 1024
export const storeReadEventsPerTurnMax = 1_000
/** Each read costs as much: it may skip 4,095 events in 300 µs. */
export const storeReadEvents = 100
/** WAL copying takes 5 ms here. At a quarter, it would take three times as much in all. */
export const storeWalBytesMax = 16 * 1024 * 1024
export const checkpointRetryPauseMs = 1_000
/** Commit groups: one is written, one waits. A third could not be staged again. */
export const groupsUnderWayMax = 2
export const trimEventsMax = 256
/** Of a commit group, after another program wrote rows. */
export const overlapRetriesMax = 1
/** A write waits this long for another program's lock. */
export const storeBusyMsMax = 250
export const internedNamesMax = 8_192
export const internedNameBytesMax = 512

// A full disk (docs/contract.md, "Cost")
/** `DISK_RESERVE`: free space and SQLite's free pages together. */
export const diskReserveBytesDefault = 256 * 1024 * 1024
export const diskReserveBytesMin = 64 * 1024 * 1024
/** Free space alone, for all other writes. */
export const diskFreeBytesMin = 64 * 1024 * 1024
/** Above both, before readings go on. */
export const diskRecoveryBytes = 16 * 1024 * 1024
export const diskLookMs = 1_000
/** When it is nearly used up. */
export const diskLookMsMin = 50
/** A look without an answer has failed then. */
export const diskAnswerMsMax = 5_000
/** More than the log ever wrote. The next look comes before the space ends. */
export const diskBytesPerSecondMax = 128 * 1024 * 1024

// Troubles of a node, in looks (`domain/trouble.ts`)
export const troubleLookMs = 1_000
/** Looks with a refusal before a report. */
export const overloadedLooksMin = 5
/** Of EventStoreDB. A shorter failure is an election. */
export const storeWritesFailLooks = 3
/** Without the trouble: then it is over. */
export const troubleCalmLooks = 10
/** An hour, for a failed fsync that was survived. */
export const survivedFsyncLooks = 3_600

// Copying a log
/** In the largest stored form, below each engine's bound. */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** Five minutes. Then the copy ends, and can be continued. */
export const copyRetriesMax = 600
export const copyRetryPauseMs = 500

// EventStoreDB (`log/eventstoredb/eventstoredb-log.ts`)
export const eventStoreAppendsOutMax = 64
/** Then the outcome is unknown: during an election no answer comes. */
export const eventStoreAppendMsMax = 1_000
/** How often appends are checked; divides `eventStoreAppendMsMax`. */
export const eventStoreLookMs = 100
/** The server takes about 1 MiB of data and metadata. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/** For the confirmation of a subscription. */
export const eventStoreUnheardMsMax = 5_000
/** The server may skip millions of events in silence. Pings show that it is alive. */
export const eventStoreScanMsMax = 600_000
/** Until a read shows the event of a conflict. */
export const eventStoreShowMs = 5
/** A silent connection is closed after the two together. */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 900
export const eventStoreAskMsMax = 1_000
export const eventStoreRetryPauseMs = 100
export const eventStoreStartMsMax = 5_000
/** The server allows 16 MiB for an event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
export const eventStoreHearingBytes = 1024 * 1024
export const eventStoreSearchWindowEvents = 1_024

// Reading the log
export const readPageEventsMax = 1_000
/** For a new actor. After a start all read at once, and an event takes 1 KB. */
export const tailEventsMax = 16
/** Of other nodes' readings. With more, the window is counted again. */
export const catchUpPagesMax = 3
/** How often a page checks that; a multiple of `heartbeatMs`. */
export const usageCatchUpMs = 2_000

// Projections
/** About 700 bytes each: 7 MB for a cellar. */
export const kegsPerCellarMax = 10_000
export const pointsPerKegMax = 24
export const latestReadingsPerCellarMax = 50
/** Candidates for the latest reading, if that one is purged. */
export const latestPerKegMax = 8
/** Seals and fences, each from an admin's command. */
export const barriersPerKeyMax = 1_000
/** Keys. One more removes the key that was refused longest ago. */
export const lastRefusalsMax = 10_000

// Checkpoints of the projections
/** Encoding takes about 1 ms of the event loop. */
export const checkpointPieceBytes = 128 * 1024
export const checkpointSyncBytes = 2 * 1024 * 1024
/** New events before a checkpoint: half a second of a start. */
export const checkpointTailEventsMax = 250_000
/** From here on, a checkpoint is due after `checkpointLooksMax`. */
export const checkpointEventsMin = 1_000
export const checkpointLookMs = 10_000
export const checkpointLooksMax = 30
/** Of the last folded event. It identifies the log, so retention must not purge it. */
export const checkpointAgeMsMax = 3_600_000

// Live pages
export const liveStreamsMax = 512
export const liveHeartbeatMs = 10_000
/** Between pushes of a page; divides `liveHeartbeatMs`. */
export const livePushMs = 500
/** For a slow browser. With more, pushes are skipped. */
export const liveBytesWaitingMax = 256 * 1024
/** One more closes the oldest. */
export const liveStreamsPerSessionMax = 8
/** In each `livePushMs`. A piece that has begun is finished. */
export const liveRenderMsPerTick = 100
/** A page rests this many times its rendering, at most `liveHeartbeatMs`. */
export const liveRestFactor = 50
/** With more, only pages that need no store are rendered. */
export const liveStoreWaitsMax = 32
export const liveSentPerPiece = 32
export const liveSentBytesPerPiece = 1024 * 1024
/** In one turn of the event loop: about 1 ms each. */
export const keysCountedPerPiece = 500
export const kegsSearchedPerPiece = 500
/** Fewer: comparing names of a language is slow. */
export const kegsOrderedPerPiece = 250

// Pages and their forms
/** Rows: rendering must not hold up readings. */
export const keysPerPageMax = 100
export const cellarsPerPageMax = 100
export const kegsPerPageMax = 100
export const historyRowsPerPageMax = 100
export const kegFilterCharsMax = 257
export const kegFilterWordsMax = 8
/** Results of a cellar's searches: 128 KiB. */
export const kegsFoundRememberedMax = 65_536
export const formBodyBytesMax = 64 * 1024

// The process
export const unavailableRetryAfterSeconds = 1
/** Without a byte; above `liveHeartbeatMs`. */
export const connectionIdleSecondsMax = 30
export const expirySweepMs = 60_000
/** Answers have `Connection: close` before the service stops listening. */
export const drainNoticeMs = 500
export const drainMsMax = 10_000
export const drainLookMs = 10
/** The launcher passes on the same Ctrl-C. */
export const sameSignalMsMax = 500
export const launcherLookMs = 250

// The command line and its socket
/** One command as JSON. A command line holds less. */
export const operationBytesMax = 8 * 1024 * 1024
/** In one piece, so that readings do not wait. */
export const logReadPageEvents = 200
export const heldWaitMsMax = 10_000
export const heldRetryMs = 100
export const progressRedrawMs = 200
export const progressLineMs = 5_000
export const simulatedDevicesMax = 10_000
export const simulatedRateMax = 100_000
export const simulatedPostMsMax = 10_000

// Log lines
export const logLinesBytesMax = 16 * 1024 * 1024
export const refusalLineMs = 1_000
export const refusalLineNamesMax = 5
/** A count misses at most a 257th of the requests. */
export const refusalLineCountersMax = 256
/** Whole errors in `errorLineMs`. A stack has 1 to 2 KB. */
export const errorLinesMax = 10
export const errorLineMs = 1_000
/** Refused sign-ins, forms and links in `traceLineMs`, with the sum of the rest. */
export const traceLinesMax = 10
export const traceLineMs = 1_000
