/** Every bound, with its unit in its name. Nothing queues, loops, retries or stays in memory without one. */

// One reading (docs/contract.md, "One reading")
export const readingBodyBytesMax = 16 * 1024
export const nameCodePointsMax = 128
export const futureSkewMsMax = 10 * 60_000

// Batches (docs/contract.md, "Limits")
export const batchReadingsMax = 1_000
export const batchBodyBytesMax = 1024 * 1024
/** A gzip body is unpacked in pieces of this size: for a batch, twice as fast as with Node's 16 KiB. */
export const gunzipChunkBytes = 128 * 1024
/** All events of a batch as JSON. EventStoreDB refuses appends over 1 MiB. */
export const batchEncodedBytesMax = 1_000_000
/** What a reading's id, type, metadata and framing add to its size in a batch: at most 360 bytes. */
export const encodedReadingBytesBesideData = 400

// Structure of a body: the cost of `JSON.parse` (docs/contract.md, "Cost")
export const jsonNestingMax = 32
/** The characters `{}[]:,` outside strings in the body of one reading. A reading with its five fields has 11. */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
export const batchNamesMax = 3_000

// Cost budget of a key (docs/contract.md, "Cost")
/** Requests that store nothing may be a tenth of the key's limit, within the two bounds below. */
export const costLimitDivisor = 10
export const costRequestsPerSecondMin = 100
export const costRequestsPerSecondMax = 10_000
/** Bytes of unpacked body that the cost budget adds for each request that it allows. */
export const costBytesPerRequest = 640
export const costSavedMsMax = 60_000
/** This many refused readings of a batch cost as much as one refused request. */
export const costItemsPerRequest = 100
/** For each stored reading of a batch, this many body bytes cost nothing. No valid reading without escapes is longer. */
export const storedReadingBytesMax = 2_048
/** Keys whose cost budget is remembered, at 100 bytes each. A key that is forgotten has a full budget again. */
export const costBudgetsMax = 10_000

// Idempotency keys (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency")
export const idempotencyKeyCharsMax = 255
export const idempotencyMs = 24 * 3_600_000
/** Idempotency keys are deleted this much after `idempotencyMs`, because the clocks of nodes differ. */
export const idempotencyMarginMs = 3_600_000
/**
 * Idempotency keys that wait to be written: 850 bytes each, 56 MB. A batch of the first version also counts its refused
 * readings.
 */
export const idempotencyWaitingMax = 65_536
/** Room for an idempotency key in the append of a full batch. As JSON, it takes at most 406 bytes. */
export const encodedIdempotencyBytes = 410
/** This many waiting idempotency keys are written at once; fewer wait for the next heartbeat. */
export const idempotencyWrittenAtOnce = 4_096
/** How often the index of idempotency keys saves its position. After a start, the node reads the log from there. */
export const idempotencyMarkMs = 5_000
/** The node reports a trouble after this many failed writes of idempotency keys in a row. */
export const idempotencyBusyWritesMin = 2
/** Pages of the log that a start reads to rebuild a lost index of idempotency keys. The node reads the rest while it serves. */
export const idempotencyStartPagesMax = 200
/** A start waits at most this long for the index of idempotency keys: a shared store may skip many other events. */
export const idempotencyStartMsMax = 5_000
/** Expired idempotency keys that a write deletes besides as many as it adds, so that the index shrinks. */
export const idempotencyForgottenAtOnceMax = 2_000

// Unfinished bodies (docs/contract.md, "Cost"; `http/unfinished-bodies.ts`)
export const keyBodiesBytesMax = 16 * 1024 * 1024
export const deviceBodiesBytesMax = 64 * 1024 * 1024
/** Memory for unfinished bodies over `readingBodyBytesMax`. If batches stall, single readings still find room. */
export const deviceLargeBodiesBytesMax = 56 * 1024 * 1024
export const bodyHolderToldBytesMin = 1024 * 1024
export const bodyHoldersToldMax = 5
/** Unfinished forms of one signed-in operator. The next bound is for all operators together. */
export const operatorFormsBytesMax = 1024 * 1024
export const operatorsFormsBytesMax = 16 * 1024 * 1024
/** Unfinished forms of visitors from one IPv4 address or IPv6 /64. The next bound is for all visitors together. */
export const visitorAddressFormsBytesMax = 128 * 1024
export const visitorsFormsBytesMax = 4 * 1024 * 1024
/** One form of a visitor who is not signed in. The longest sign-in form has 7.5 KB. */
export const visitorFormBodyBytesMax = 8 * 1024
/** A plain body up to this size reserves no memory: its connection takes as much. */
export const bodyReservedBytesMin = 1024
/** The service gives up a body that arrives more slowly than this after `bodyGraceMs`. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/** How often unfinished bodies are checked. Each check restarts the idle timer of `connectionIdleSecondsMax`. */
export const bodyHeartbeatMs = 5_000
/** A larger body is read as a stream, which costs 0.1 ms more. A full batch has 105 KB. */
export const bodyInOnePieceBytesMax = 128 * 1024
/** Keys, operators and addresses that are remembered without an unfinished body, until the next heartbeat. */
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
/** Tries to find an unused random id for a new key. With 47 bits, even one repetition is very unlikely. */
export const keyIdTriesMax = 3
/** A hundred years. A longer duration is a typing error. */
export const durationMsMax = 36_500 * 86_400_000
export const labelCodePointsMax = 80
export const noteCodePointsMax = 500
export const reasonCodePointsMax = 300
export const cellarTitleCodePointsMax = 120

// Retention (docs/contract.md, "Retention and versioning")
/** Rate windows and idempotency keys still need the events of the last 24 hours. */
export const retentionMsMin = 24 * 3_600_000
/** Events are purged this much later than the retention says, because the clocks of nodes differ. */
export const retentionMarginMs = 3_600_000
export const recordsKeptMs = { signins: 30 * 24 * 3_600_000 } as const
/** If the clock jumps further ahead, nothing is purged for `clockDoubtMs`. A wrong clock would purge too much. */
export const clockLeapMsMax = 24 * 3_600_000
export const clockDoubtMs = 24 * 3_600_000
/** Keys of a cellar whose readings are purged by one append: about 200 KB. */
export const purgesPerAppendMax = 256

// Messages about a log that this version cannot read
export const schemaDifferencesMax = 20
export const schemaNameCharsMax = 80
export const unreadableTypeCharsMax = 100
export const unreadableWhyCharsMax = 300

// Passwords
export const passwordCharsMin = 12
export const passwordBytesMax = 512
/** Only these first characters of a password are judged: more would take too long. */
export const passwordJudgedCharsMax = 64
/** A new password is refused if an attacker would need fewer guesses. */
export const passwordGuessesMin = 10_000_000_000
/**
 * Judging a new password usually takes 100 ms. After this time only names count, so that the answer fits in
 * `requestWaitMsMax`.
 */
export const passwordJudgementMsMax = 2_000
export const passwordCellarsMax = 1_000
/** A new password is not compared with shorter parts of names, because many good passwords contain those. */
export const guessedWordCharsMin = 3
/** Letters and digits that a new password needs besides the names in it. */
export const ownPartCharsMin = 8
/** Passwords of strangers that wait to be hashed. A hash takes 80 ms, so 64 take about `requestWaitMsMax`. */
export const passwordsWaitingMax = 64
/** Waiting passwords of known browsers and signed-in people, which are hashed first. */
export const knownPasswordsWaitingMax = 16
/** Waiting passwords from one IPv4 address or IPv6 /48, of strangers and, apart from them, of known browsers. */
export const passwordsWaitingPerNetworkMax = 4

// Sessions and links of operators
export const emailCharsMax = 254
export const sessionMsMax = 12 * 3_600_000
export const sessionIdleMsDefault = 2 * 3_600_000
export const sessionIdleMsMin = 60_000
/** A session is renewed in the log at most once in this part of its idle time. */
export const sessionRenewalDivisor = 4
export const sessionUsesMax = 10_000
export const sessionsPerOperatorMax = 20
/** Hex digits of a session's hash that name it in the log and on pages. */
export const sessionIdChars = 16
/** Ended sessions that a node remembers, so that their open pages stop asking for updates: 100 KB. */
export const endedSessionsMax = 1_000
/** Known browsers of one operator. One more removes the oldest. */
export const devicesPerOperatorMax = 20
export const deviceMsMax = 400 * 86_400_000
export const linkMsMax = 24 * 3_600_000
/** Unused one-time links of one operator, or of the first start. One more removes the oldest. */
export const linksOpenMax = 20
/** One-time links that other people created for an operator. Each sign-in reports them. */
export const linksToldMax = 5
export const linksToldMsMax = 30 * 86_400_000

// Sign-in attempts and their history
/** Failed sign-ins in `signInWindowMs`, per account, known browser, IPv4 address or IPv6 /64. */
export const signInAttemptsMax = 10
/** Failed sign-ins in `signInWindowMs` per IPv6 /48, which may belong to one customer or to thousands. */
export const signInSiteAttemptsMax = 40
export const signInWindowMs = 15 * 60_000
/** Addresses with remembered sign-in attempts; also IPv6 /48 networks, and e-mails without an account. */
export const signInSubjectsMax = 10_000
export const refusedSignInsToldMs = 60_000
/** Accounts that an event about refused sign-ins names. Others are only counted. */
export const refusedSignInAccountsMax = 50
export const refusedSignInAddressesMax = 5
/** Events that the account page reads from the operator's stream, and as many of `signins-node`. */
export const signInHistoryEventsMax = 1_000
export const signInHistoryRowsMax = 50
export const userAgentCharsMax = 300
export const browserCharsMax = 80

// Actors and their mailboxes (docs/protocol.md, "Appending a reading")
export const actorsMax = 20_000
export const actorIdleMs = 5 * 60_000
export const mailboxRequestsMax = 4_096
/** Readings that wait for one actor: 64 full batches, about 25 MB. */
export const mailboxReadingsMax = 65_536
export const mailboxCommandsMax = 64
export const requestWaitMsMax = 5_000
/** How often actors check their waiting requests. It divides `requestWaitMsMax`. */
export const heartbeatMs = 500

// Appends of an actor
export const appendBytesMax = 512 * 1024
export const appendReadingsMax = 4_096
export const conflictRetriesMax = 64
/** After this many conflicts, a revocation suspends the key, so that busy nodes stop writing. Then it seals again. */
export const sealTriesMax = 8
/** Pause before an append with an unknown outcome is tried again. It doubles up to `storeRetryPauseMsMax`. */
export const storeRetryPauseMsMin = 10
export const storeRetryPauseMsMax = 1_000
/** Retries of an append with an unknown outcome: about an hour. Then the actor reads the log again. */
export const storeRetriesMax = 3_600
/** The longest pause that lets another node append to the same stream. */
export const givingWayMsMax = 100
/** A busy node pauses so that nodes far from the store can append: those with a round trip up to half of this. */
export const farTurnMs = 50
/** How often a busy node pauses for `farTurnMs`, which costs at most a twelfth of its time. */
export const farTurnEveryMs = 600
/** After a conflict, a node leaves pauses for other nodes this long. A multiple of `heartbeatMs`. */
export const sharedStreamMs = 5_000
/** Another node finishes an interrupted revocation after this time. A multiple of `heartbeatMs`. */
export const revocationFinishMs = 2_000

// Clocks of nodes (docs/protocol.md, "Versions and clocks")
/** A clock that jumps further ahead is trusted only after `clockStandMs`. */
export const clockStepMsMax = 1_000
export const clockStandMs = 5_000
/** An event from further ahead of this node's clock shows that the clocks of nodes differ. */
export const clockDifferenceMsMax = 1_000
/** Clocks agree again after this time without an event from the future. A multiple of `heartbeatMs`. */
export const clockCalmMs = 60_000
/** An event of another node that arrives later than this is late, and the node reports a lag. */
export const lagMsMax = 5_000
/** A node no longer reports a lag after this time without a late event. A multiple of `heartbeatMs`. */
export const lagCalmMs = 10_000

// Queue in front of the log
export const logQueueReadingsMax = 65_536
export const logQueueBytesMax = 16 * 1024 * 1024
/** Room for events other than readings, so that waiting readings never keep out a revocation. */
export const logQueueChangesMax = 4_096
export const logQueueChangesBytesMax = 4 * 1024 * 1024

// Embedded log
/** Streams whose last revision is remembered, at about 100 bytes each. */
export const storeStreamsRememberedMax = 50_000
/** SQLite's page cache for writing. The operating system caches the other pages. */
export const storeWriteCacheBytes = 4 * 1024 * 1024
/** SQLite's page cache for reading. It helps to find the ends of streams; other reads use a page only once. */
export const storeReadCacheBytes = 1 * 1024 * 1024
/** Events that are read in one turn of the event loop, so that requests get a turn. */
export const storeReadEventsPerTurnMax = 1_000
/** Each read counts as this many events more: it may skip 4,095 events in 300 µs. */
export const storeReadEvents = 100
/** At this size SQLite's WAL is copied, in 5 ms. At a quarter, copying would take three times as long in all. */
export const storeWalBytesMax = 16 * 1024 * 1024
export const checkpointRetryPauseMs = 1_000
/** Commit groups on their way to the disk: one is written, one waits. After a failure, a third could not be staged again. */
export const groupsUnderWayMax = 2
/** Truncated events that are deleted in one transaction, so that no append waits long behind it. */
export const trimEventsMax = 256
/** Retries of a commit group after another program has written rows in its place. */
export const overlapRetriesMax = 1
/** A write waits this long if another program has locked the database. */
export const storeBusyMsMax = 250
export const internedNamesMax = 8_192
export const internedNameBytesMax = 512

// A full disk (docs/contract.md, "Cost")
/** `DISK_RESERVE`. With less free disk space, including SQLite's free pages, no readings are stored. */
export const diskReserveBytesDefault = 256 * 1024 * 1024
export const diskReserveBytesMin = 64 * 1024 * 1024
/** With less free disk space, not counting SQLite's free pages, no readings are stored. Other writes still need this space. */
export const diskFreeBytesMin = 64 * 1024 * 1024
/** Readings are stored again when the free disk space is this far above its two bounds. */
export const diskRecoveryBytes = 16 * 1024 * 1024
export const diskLookMs = 1_000
/** How often free disk space is checked when it is nearly used up. */
export const diskLookMsMin = 50
/** A check of the free disk space that takes longer has failed. */
export const diskAnswerMsMax = 5_000
/** More than the log ever wrote. The next check comes before this rate could use up the disk. */
export const diskBytesPerSecondMax = 128 * 1024 * 1024

// Troubles of a node, in looks (`domain/trouble.ts`)
export const troubleLookMs = 1_000
/** An overload is reported after this many checks in a row that found refused requests. */
export const overloadedLooksMin = 5
/** Failed writes to EventStoreDB are reported after this many checks in a row. A shorter failure is an election. */
export const storeWritesFailLooks = 3
/** A reported trouble is over after this many checks in a row without it. */
export const troubleCalmLooks = 10
/** A failed fsync that the log survived is reported for this many checks: an hour. */
export const survivedFsyncLooks = 3_600

// Copying a log
/** One append of a copied log, in its largest stored form. Every engine accepts this size. */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** Retries for five minutes. Then the copy ends, and can be continued. */
export const copyRetriesMax = 600
export const copyRetryPauseMs = 500

// EventStoreDB (`log/eventstoredb/eventstoredb-log.ts`)
export const eventStoreAppendsOutMax = 64
/** Without an answer in this time, the outcome of an append is unknown. During an election, EventStoreDB may never answer. */
export const eventStoreAppendMsMax = 1_000
/** How often appends without an answer are checked. It divides `eventStoreAppendMsMax`. */
export const eventStoreLookMs = 100
/** EventStoreDB accepts about 1 MiB of data and metadata in one append. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/** A subscription that is not confirmed in this time is reported. */
export const eventStoreUnheardMsMax = 5_000
/** A read of all streams may take this long: the server may skip millions of events in silence. Pings show that it is alive. */
export const eventStoreScanMsMax = 600_000
/** Pause between reads, until they show the event that a conflict has named. */
export const eventStoreShowMs = 5
/** A silent connection gets a ping. It is closed if the ping has no answer after `eventStoreKeepAliveTimeoutMs`. */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 900
export const eventStoreAskMsMax = 1_000
export const eventStoreRetryPauseMs = 100
export const eventStoreStartMsMax = 5_000
/** Size of a message from EventStoreDB, which allows 16 MiB for an event. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
export const eventStoreHearingBytes = 1024 * 1024
export const eventStoreSearchWindowEvents = 1_024

// Reading the log
export const readPageEventsMax = 1_000
/** Events that a new actor reads of its stream. After a start all actors read at once, and an event takes 1 KB. */
export const tailEventsMax = 16
/** Pages of other nodes' readings that an actor reads. With more, it counts the rate window again. */
export const catchUpPagesMax = 3
/** How often a page makes an actor read the readings of other nodes. A multiple of `heartbeatMs`. */
export const usageCatchUpMs = 2_000

// Projections
/** Kegs of a cellar in memory: about 700 bytes each, 7 MB in all. */
export const kegsPerCellarMax = 10_000
export const pointsPerKegMax = 24
export const latestReadingsPerCellarMax = 50
/** Readings of a keg in memory that may become its latest, if later ones are purged. */
export const latestPerKegMax = 8
/** Seals and fences of a key in memory. Each comes from a command of an admin. */
export const barriersPerKeyMax = 1_000
/** Keys whose last refusal is remembered. One more removes the key that was refused longest ago. */
export const lastRefusalsMax = 10_000

// Checkpoints of the projections
/** A checkpoint is encoded in pieces of this size, which take about 1 ms of the event loop. */
export const checkpointPieceBytes = 128 * 1024
export const checkpointSyncBytes = 2 * 1024 * 1024
/** A checkpoint is due after this many new events, which a start reads in half a second. */
export const checkpointTailEventsMax = 250_000
/** With this many new events, a checkpoint is due within `checkpointLooksMax` checks. */
export const checkpointEventsMin = 1_000
export const checkpointLookMs = 10_000
export const checkpointLooksMax = 30
/**
 * After this time, even few new events are worth a checkpoint. Otherwise retention could purge the event by which a checkpoint
 * recognises its log.
 */
export const checkpointAgeMsMax = 3_600_000

// Live pages
export const liveStreamsMax = 512
export const liveHeartbeatMs = 10_000
/** Time between two updates of an open page. It divides `liveHeartbeatMs`. */
export const livePushMs = 500
/** Updates that wait for a slow browser. With more, updates are skipped. */
export const liveBytesWaitingMax = 256 * 1024
/** Open live pages of one session. One more closes the oldest. */
export const liveStreamsPerSessionMax = 8
/** Time for rendering in each `livePushMs`. A piece of work that has begun is finished. */
export const liveRenderMsPerTick = 100
/** After a rendering, a page waits this many times as long as it took, at most `liveHeartbeatMs`. */
export const liveRestFactor = 50
/** Renderings that wait for the store. With more, only pages that need no store are rendered. */
export const liveStoreWaitsMax = 32
export const liveSentPerPiece = 32
export const liveSentBytesPerPiece = 1024 * 1024
/** Keys that a page counts in one turn of the event loop, in about 1 ms. */
export const keysCountedPerPiece = 500
export const kegsSearchedPerPiece = 500
/** Kegs that are sorted in one turn of the event loop. Comparing names of a language is slow. */
export const kegsOrderedPerPiece = 250

// Pages and their forms
/** Rows of a page. Readings would wait while a longer page is rendered. */
export const keysPerPageMax = 100
export const cellarsPerPageMax = 100
export const kegsPerPageMax = 100
export const historyRowsPerPageMax = 100
export const kegFilterCharsMax = 257
export const kegFilterWordsMax = 8
/** Kegs in the remembered results of searches in one cellar: 128 KiB. */
export const kegsFoundRememberedMax = 65_536
export const formBodyBytesMax = 64 * 1024

// The process
export const unavailableRetryAfterSeconds = 1
/** A silent connection is closed after this time. Above `liveHeartbeatMs`, so that live pages stay open. */
export const connectionIdleSecondsMax = 30
export const expirySweepMs = 60_000
/** When the service stops, it first answers with `Connection: close` for this long. */
export const drainNoticeMs = 500
export const drainMsMax = 10_000
export const drainLookMs = 10
/** A second Ctrl-C in this time is ignored. It is the first one, which the launcher has passed on. */
export const sameSignalMsMax = 500
export const launcherLookMs = 250

// The command line and its socket
/** One command as JSON. No command line is that long. */
export const operationBytesMax = 8 * 1024 * 1024
/** Events that `log read` reads at once. With more, readings of devices would wait. */
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
/** Keys, and addresses, that are counted for a log line. A count misses at most a 257th of the refused requests. */
export const refusalLineCountersMax = 256
/** Errors that are logged in full in each `errorLineMs`. A stack has 1 to 2 KB. */
export const errorLinesMax = 10
export const errorLineMs = 1_000
/** Log lines about refused sign-ins, forms and links in each `traceLineMs`, with the line that sums up the rest. */
export const traceLinesMax = 10
export const traceLineMs = 1_000
