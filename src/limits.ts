/**
 * Every bound in the system, in one place, with its unit in its name. Nothing in the program queues, loops, retries or
 * keeps without a bound from this page.
 */

// One reading and its names (docs/contract.md, "One reading").
export const readingBodyBytesMax = 16 * 1024
export const nameCodePointsMax = 128
export const futureSkewMsMax = 10 * 60_000

// A batch (docs/contract.md, "Limits"; docs/protocol.md, "A batch").
export const batchReadingsMax = 1_000
export const batchBodyBytesMax = 1024 * 1024
/** A packed body is unpacked in pieces of this size: half the time of Node's 16 KiB for a batch. */
export const gunzipChunkBytes = 128 * 1024
/** Of its events, as JSON: EventStoreDB refuses an append over about 1 MiB, and both engines refuse the same batches. */
export const batchEncodedBytesMax = 1_000_000
/** Id, type, metadata and framing of one reading's event there: 360 at the most. */
export const encodedReadingBytesBesideData = 400

// The structure of a body (docs/contract.md, "Cost"): what `JSON.parse` may cost.
export const jsonNestingMax = 32
/** Characters `{}[]:,` outside strings. A reading with the five fields has 11. */
export const readingStructuralCharsMax = 32
export const batchStructuralCharsMax = 32_000
/** Names of a cellar, a rack or a keg in a batch: three for each of its readings. */
export const batchNamesMax = 3_000

// The cost budget of a key: for requests that store nothing (docs/contract.md, "Cost").
/** Requests a second are this part of the readings a second that the key's limit allows, within the two bounds. */
export const costLimitDivisor = 10
export const costRequestsPerSecondMin = 100
export const costRequestsPerSecondMax = 10_000
/** Bytes of unpacked body that come with each of these requests. */
export const costBytesPerRequest = 640
/** A budget that nobody uses grows for this long. */
export const costSavedMsMax = 60_000
/** Refused items of a batch that cost as much as one request. */
export const costItemsPerRequest = 100
/** Bytes of a batch that each stored reading pays for: more than the longest valid reading has without its escapes. */
export const storedReadingBytesMax = 2_048
/** Keys whose budget is remembered: about 100 bytes each. A key that is forgotten has a full budget again. */
export const costBudgetsMax = 10_000

// `Idempotency-Key` (docs/contract.md, "Idempotency"; docs/protocol.md, "Idempotency").
export const idempotencyKeyCharsMax = 255
/** How long a key is remembered. */
export const idempotencyMs = 24 * 3_600_000
/** Clocks of several nodes differ: what was recorded this much earlier is surely forgotten by all of them. */
export const idempotencyMarginMs = 3_600_000
/**
 * Keys that wait to be written to the index's file: about 850 bytes each, 56 MB in all. A batch that the first version stored
 * counts one more for each of its verdicts.
 */
export const idempotencyWaitingMax = 65_536
/**
 * What a key takes in an append as JSON: 406 at the most. It comes on top of a batch's own bound and still fits. A batch near
 * that bound has 490 readings or more, and each takes 40 bytes less than `encodedReadingBytesBesideData` counts.
 */
export const encodedIdempotencyBytes = 410
/** So many waiting are written at once; fewer with the next heartbeat. */
export const idempotencyWrittenAtOnce = 4_096
/** How often the index's file is told how far the log was folded when no key came: a start reads what came since then. */
export const idempotencyMarkMs = 5_000
/** After this many writes in a row that found the file locked, or its disk full, the node tells it. One may be chance. */
export const idempotencyBusyWritesMin = 2
/** What a start reads of the log for the index before it serves; the rest, after the file was lost, while it serves. */
export const idempotencyStartPagesMax = 200
/** The same for a log in which the events of others have to be looked past. */
export const idempotencyStartMsMax = 5_000
/** Keys that count no more are taken out of the file with each change, beside as many as came in. */
export const idempotencyForgottenAtOnceMax = 2_000

// Bodies in flight (docs/contract.md, "Cost"): what unfinished bodies reserve, `http/unfinished-bodies.ts`.
export const keyBodiesBytesMax = 16 * 1024 * 1024
export const deviceBodiesBytesMax = 64 * 1024 * 1024
/** Of these, bodies larger than `readingBodyBytesMax`: single readings find room beside stalled batches. */
export const deviceLargeBodiesBytesMax = 56 * 1024 * 1024
/** A trouble of the pool names keys that hold this much or more. */
export const bodyHolderToldBytesMin = 1024 * 1024
/** And at most so many of them. */
export const bodyHoldersToldMax = 5
/** Forms of one operator, and of all who are signed in. */
export const operatorFormsBytesMax = 1024 * 1024
export const operatorsFormsBytesMax = 16 * 1024 * 1024
/** Forms of one address (IPv6: of one /64) and of all who are not signed in: 16 of the largest, and 32 such addresses. */
export const visitorAddressFormsBytesMax = 128 * 1024
export const visitorsFormsBytesMax = 4 * 1024 * 1024
/** A form of somebody who is not signed in. A sign-in form has a few hundred bytes, and about 7.5 KB with the longest fields. */
export const visitorFormBodyBytesMax = 8 * 1024
/** A plain body of that declared size or less reserves nothing: it takes no more than its connection. A packed one reserves that much. */
export const bodyReservedBytesMin = 1024
/** A body that comes slower than this after its first 30 s is given up. */
export const bodyBytesPerSecondMin = 1024
export const bodyGraceMs = 30_000
/** How often unfinished bodies are looked at; well below `connectionIdleSecondsMax`, since each look renews that time. */
export const bodyHeartbeatMs = 5_000
/**
 * Up to this size a body is read in one piece, and given up by its declared size: after 30 s and a second for each KiB. A
 * full batch has about 105 KB; reading it as a stream costs 0.1 ms more.
 */
export const bodyInOnePieceBytesMax = 128 * 1024
/** Keys, operators and addresses that are remembered until the next heartbeat without a body in flight. */
export const bodyHoldersKeptMax = 10_000

// Keys (docs/contract.md, "Keys" and "Rate limiting").
export const keyLimitDefault = { readings: 6_000, windowMs: 60_000 } as const
export const keyLimitReadingsMax = 10_000_000
export const keyWindowMsMin = 1_000
export const keyWindowMsMax = 24 * 3_600_000
export const rateWindowSlots = 64
/**
 * The unit of retention, and the shortest: what goes goes a day at a time (UTC). Nothing that a key's window or an
 * `Idempotency-Key` still counts may go, and both reach back 24 hours.
 */
export const retentionMsMin = 24 * 3_600_000
/** Readings stay this much longer than their cellar says, since the clocks of two nodes may differ. */
export const retentionMarginMs = 3_600_000
/** How long records are kept, by category. Like readings, they are purged by whole days (UTC), after the same margin. */
export const recordsKeptMs = { signins: 30 * 24 * 3_600_000 } as const
/** Differences of the log's schema in one message, and characters of each name in it. */
export const schemaDifferencesMax = 20
export const schemaNameCharsMax = 80
/** Characters of the type, and of the reason, of an event that this version can't read. */
export const unreadableTypeCharsMax = 100
export const unreadableWhyCharsMax = 300
/** A clock that goes further ahead at once purges nothing until it is back, or has stood by it for so long. */
export const clockLeapMsMax = 24 * 3_600_000
export const clockDoubtMs = 24 * 3_600_000
/** Keys whose readings are purged by one append to their cellar: about 200 KB. */
export const purgesPerAppendMax = 256
/** A hundred years: whoever types more means something else. */
export const durationMsMax = 36_500 * 86_400_000
/** How long a key may live on after the first use of the one that follows it (docs/contract.md, "Keys"). */
export const rotationOverlapsMs = [0, 3_600_000, 24 * 3_600_000, 7 * 24 * 3_600_000] as const
export const rotationOverlapMsDefault = 24 * 3_600_000
export const labelCodePointsMax = 80
export const noteCodePointsMax = 500
export const reasonCodePointsMax = 300
export const cellarTitleCodePointsMax = 120
export const keysPerCellarMax = 10_000

// Operators and their sessions.
export const passwordCharsMin = 12
export const passwordBytesMax = 512
/** Only the first characters of a password are judged: each further one makes that slower. */
export const passwordJudgedCharsMax = 64
/** A password that needs fewer guesses is refused. Each character that fits no pattern means ten times as many guesses. */
export const passwordGuessesMin = 10_000_000_000
/** A judgement usually takes 100 ms. After this time the names alone decide, so that a hash still fits in `requestWaitMsMax`. */
export const passwordJudgementMsMax = 2_000
/** Cellars whose names a password is compared with. */
export const passwordCellarsMax = 1_000
/** Shorter parts of names are ignored: many good passwords contain them. */
export const guessedWordCharsMin = 3
/** Letters and digits that a password needs besides the names that it contains. */
export const ownPartCharsMin = 8
export const emailCharsMax = 254
export const sessionMsMax = 12 * 3_600_000
/** `SESSION_IDLE`: a session ends after this time without use. */
export const sessionIdleMsDefault = 2 * 3_600_000
export const sessionIdleMsMin = 60_000
/** A session is renewed in the log at most once in this part of its idle time. */
export const sessionRenewalDivisor = 4
/** Sessions whose last use this node remembers. For others it knows only the renewals in the log. */
export const sessionUsesMax = 10_000
export const sessionsPerOperatorMax = 20
/** Hex digits of a session's hash by which the log and pages name it. */
export const sessionIdChars = 16
/** Known browsers of one operator. With one more, the oldest is forgotten. */
export const devicesPerOperatorMax = 20
export const deviceMsMax = 400 * 86_400_000
/** Links to an account that other people made: how many are remembered, and how long each sign-in tells of them. */
export const linksToldMax = 5
export const linksToldMsMax = 30 * 86_400_000
/** Of all operators, remembered so that a page of one of them is told to stop asking: about 100 KB. */
export const endedSessionsMax = 1_000
export const linkMsMax = 24 * 3_600_000
/** One-time links of one operator, or of the set-up, that are open at once: the oldest goes. */
export const linksOpenMax = 20
/** How often sums of refused sign-ins are written to the log. */
export const refusedSignInsToldMs = 60_000
/** Accounts in one such event, and addresses of one account. Others are only counted. */
export const refusedSignInAccountsMax = 50
export const refusedSignInAddressesMax = 5
/** Events that the account page reads from the operator's stream, and as many from `signins-node`. */
export const signInHistoryEventsMax = 1_000
/** Rows of the operator's stream. Between two of them, there may be one more row for refused sign-ins. */
export const signInHistoryRowsMax = 50
/** Characters that are read of the `User-Agent` header, and kept of the browser's name. */
export const userAgentCharsMax = 300
export const browserCharsMax = 80
/**
 * Failed sign-ins in `signInWindowMs`, for each account, each browser that the account knows, and each IPv4 address or IPv6
 * /64.
 */
export const signInAttemptsMax = 10
/** The same for each IPv6 /48. Many providers give one customer a whole /48, others put thousands of customers in it. */
export const signInSiteAttemptsMax = 40
export const signInWindowMs = 15 * 60_000
/** Addresses whose sign-in attempts are remembered. The same bound holds for /48 networks, and for e-mails without an account. */
export const signInSubjectsMax = 10_000
/** Passwords of strangers that wait to be hashed. At 80 ms each, 64 take about `requestWaitMsMax`. */
export const passwordsWaitingMax = 64
/**
 * Waiting passwords from known browsers and from people who are signed in. They have this room of their own, and are hashed
 * first.
 */
export const knownPasswordsWaitingMax = 16
/** Waiting passwords of one IPv4 address or IPv6 /48, in each of the two queues. */
export const passwordsWaitingPerNetworkMax = 4

// Actors (docs/protocol.md, "Appending a reading").
export const mailboxRequestsMax = 4_096
/** 64 full batches, about 25 MB. */
export const mailboxReadingsMax = 65_536
export const mailboxCommandsMax = 64
export const actorsMax = 20_000
export const actorIdleMs = 5 * 60_000
export const appendBytesMax = 512 * 1024
export const appendReadingsMax = 4_096
export const conflictRetriesMax = 64
/** Tries of a seal in a row: if others win them all, the key is suspended, and they are made again. */
export const sealTriesMax = 8
export const requestWaitMsMax = 5_000
/** How often waiting asks are looked at; a divisor of `requestWaitMsMax`. */
export const heartbeatMs = 500
/** Between two tries of one append whose outcome is unknown: doubled from the first to the second. */
export const storeRetryPauseMsMin = 10
export const storeRetryPauseMsMax = 1_000
/** An hour at one try a second; then the actor forgets what it knew and asks the log. */
export const storeRetriesMax = 3_600
/** The longest pause that gives way to another node's writing. */
export const givingWayMsMax = 100
/**
 * The turn that a node which writes to a stream without pause leaves to others, farther from the store: one whose round
 * trip is half of it meets a conflict in it, and then writes.
 */
export const farTurnMs = 50
/** How often: a twelfth of the time is what one node alone can lose by it. */
export const farTurnEveryMs = 600
/** How long a node takes a stream for shared after it met another there; a multiple of `heartbeatMs`. */
export const sharedStreamMs = 5_000
/**
 * How long after a seal another node finishes the revocation, should its own node have died in between; a multiple of
 * `heartbeatMs`. By far longer than two appends take.
 */
export const revocationFinishMs = 2_000
/** A clock that goes further ahead than time has passed is believed when it has stood by that for so long. */
export const clockStepMsMax = 1_000
export const clockStandMs = 5_000
/** An event from further ahead of this node's clock shows that clocks differ (docs/protocol.md, "Versions and clocks"). */
export const clockDifferenceMsMax = 1_000
/** After so long without such an event they agree again; a multiple of `heartbeatMs`, as is `lagCalmMs`. */
export const clockCalmMs = 60_000
/** News that come later than this are late, and after so long without such news they come in time again. */
export const lagMsMax = 5_000
export const lagCalmMs = 10_000
/** A new key's id is drawn again when it is taken: 47 bits make even one repetition unheard of. */
export const keyIdTriesMax = 3

// The queue in front of the log, over all streams.
export const logQueueReadingsMax = 65_536
export const logQueueBytesMax = 16 * 1024 * 1024
/** Behind these, for everything else that is written: a revocation is not refused because readings wait. */
export const logQueueChangesMax = 4_096
export const logQueueChangesBytesMax = 4 * 1024 * 1024

// The embedded log.
/** Streams whose last revision, and whose name, are remembered; others are looked up. About 100 bytes each. */
export const storeStreamsRememberedMax = 50_000
/**
 * SQLite's cache of pages where it is written. At 10,000 keys the last index pages of all of them together are 20 MB; what
 * doesn't fit comes from the operating system's cache, at no cost that was seen.
 */
export const storeWriteCacheBytes = 4 * 1024 * 1024
/** And where it is read: the way to the ends of streams. A replay and a page of history read on, and never back. */
export const storeReadCacheBytes = 1 * 1024 * 1024
/**
 * What is read in one turn of the event loop, in events. A read costs as much as so many beside its own: one from the end of
 * a long row passes over 4,095 others, which takes 300 µs.
 */
export const storeReadEventsPerTurnMax = 1_000
export const storeReadEvents = 100
/**
 * A checkpoint begins when the write-ahead log has grown this far. It takes about 5 ms then, a twentieth of the time under
 * full load; at a quarter of this it takes nearly as long three times as often, as the pages of busy keys are copied each time.
 */
export const storeWalBytesMax = 16 * 1024 * 1024
/** Between two tries of a checkpoint that has failed. */
export const checkpointRetryPauseMs = 1_000
/**
 * Groups handed to the commit thread at once: one that it writes, and one that it finds when it has written that. Not more:
 * behind a group that fails, one can be staged anew before all that is new, but two can't (`log/sqlite/sqlite-log.ts`).
 */
export const groupsUnderWayMax = 2
/** Events that one transaction of a truncation deletes: about as long as a group takes, so that none waits long behind it. */
export const trimEventsMax = 256
/** How often a group is judged anew after another program has written rows at its place. */
export const overlapRetriesMax = 1
/** How long a write waits for another program that has locked the database. */
export const storeBusyMsMax = 250
/** Names of racks and kegs that a replay recognises without decoding them. */
export const internedNamesMax = 8_192
export const internedNameBytesMax = 512

// A disk that fills up (the embedded log).
/** `DISK_RESERVE`: below this, free space and SQLite's free pages together, readings are refused. */
export const diskReserveBytesDefault = 256 * 1024 * 1024
export const diskReserveBytesMin = 64 * 1024 * 1024
/**
 * The same for the free space alone. What is still written needs it: the write-ahead log (`storeWalBytesMax`), key changes,
 * the index of idempotency keys, and the temporary file of a checkpoint.
 */
export const diskFreeBytesMin = 64 * 1024 * 1024
/** Readings are taken again when both were this far above their bounds in `troubleCalmLooks` looks in a row. */
export const diskRecoveryBytes = 16 * 1024 * 1024
/** How often the free space is looked at while there is plenty of it. */
export const diskLookMs = 1_000
/** How often when it is nearly used up. */
export const diskLookMsMin = 50
/** A look that has no answer after this time has failed. The next look waits for the same answer. */
export const diskAnswerMsMax = 5_000
/** More than the log was ever seen to write in a second. The next look comes before that rate uses up what is left. */
export const diskBytesPerSecondMax = 128 * 1024 * 1024

// Troubles, counted in looks (`domain/trouble.ts`).
export const troubleLookMs = 1_000
/** A full queue, or full memory for bodies, is told after this many looks in a row that saw something refused for it. */
export const overloadedLooksMin = 5
/** Failing writes to EventStoreDB are told after this many looks in a row that saw one: less is an election. */
export const storeWritesFailLooks = 3
/** A trouble that no success ends is over after this many looks without it. */
export const troubleCalmLooks = 10
/** A failed fsync that was survived is shown for an hour. */
export const survivedFsyncLooks = 3_600

// Copying a log.
/** An append of a copy, counted in its largest stored form: below what any engine refuses. */
export const copyAppendBytesMax = 800_000
export const copyAppendEventsMax = 1_000
/** Five minutes without the store; then the copy ends, and can be gone on with. */
export const copyRetriesMax = 600
export const copyRetryPauseMs = 500

// EventStoreDB (`log/eventstoredb/eventstoredb-log.ts`).
/** Appends that are out at once, of as many streams. */
export const eventStoreAppendsOutMax = 64
/** After it the outcome of an append is unknown: one that is sent during an election is never answered. */
export const eventStoreAppendMsMax = 1_000
/** How often appends that are out are looked at; a divisor of `eventStoreAppendMsMax`. */
export const eventStoreLookMs = 100
/** The server takes about a mebibyte, of which it counts data and metadata. */
export const eventStoreAppendBytesMax = 1_000_000
export const eventStoreReadMsMax = 5_000
/** A subscription that the server does not even confirm in that time is a fault: what other nodes do is not heard. */
export const eventStoreUnheardMsMax = 5_000
/**
 * A read of everything may have to look past millions of events that others wrote, of which the server says nothing
 * meanwhile; whether it lives, its pings tell.
 */
export const eventStoreScanMsMax = 600_000
/** Between two looks whether a read shows what a conflict has named; it is indexed within milliseconds. */
export const eventStoreShowMs = 5
/** A silent connection is given up after the two together. */
export const eventStoreKeepAliveMs = 1_000
export const eventStoreKeepAliveTimeoutMs = 900
/** One question asked while connecting. */
export const eventStoreAskMsMax = 1_000
/** Between two tries to connect, and to take up a subscription again. */
export const eventStoreRetryPauseMs = 100
/** How long a start waits for a server that is not there, or not ready. */
export const eventStoreStartMsMax = 5_000
/** Messages are up to this large when they come from the server, whose own bound on an event is 16 MiB. */
export const eventStoreMessageBytesMax = 17 * 1024 * 1024
/** What the server may send ahead on a subscription before it was taken from the socket. */
export const eventStoreHearingBytes = 1024 * 1024
/** Events of others that the server looks past in one go, for one that was asked for. */
export const eventStoreSearchWindowEvents = 1_024

// Reading the log.
export const readPageEventsMax = 1_000
/**
 * The end of a key's readings, which is read when its actor is made: for most keys the whole of its window. After a start all
 * are made together, each of these events lies on a page of its own, and takes a kilobyte until it is counted.
 */
export const tailEventsMax = 16
/** Of readings that other nodes wrote, so many are read one after the other; past that the window is counted anew, by bisecting. */
export const catchUpPagesMax = 3
/** How often a page, which asks twice a second, has that looked after; a multiple of `heartbeatMs`. */
export const usageCatchUpMs = 2_000

// Projections that would otherwise grow with the readings.
/** About 700 bytes each: 7 MB a cellar, and only admins make cellars. */
export const kegsPerCellarMax = 10_000
export const pointsPerKegMax = 24
export const latestReadingsPerCellarMax = 50
/** Readings of one keg that were accepted after its latest but have earlier timestamps: the latest, should that be purged. */
export const latestPerKegMax = 8
/** Seals and fences of one key's readings, of which each takes a command of an admin: the last are shown. */
export const barriersPerKeyMax = 1_000
export const lastRefusalsMax = 10_000

// Checkpoints of the projections.
/** Encoding so much takes about a millisecond of the event loop. */
export const checkpointPieceBytes = 128 * 1024
/** Written between two waits for the disk. */
export const checkpointSyncBytes = 2 * 1024 * 1024
/** Events behind the last checkpoint that make the next one due at the next look: half a second of a start. */
export const checkpointTailEventsMax = 250_000
/** Fewer are not worth a checkpoint; more get one after so many looks. */
export const checkpointEventsMin = 1_000
export const checkpointLookMs = 10_000
export const checkpointLooksMax = 30
/**
 * So do fewer, once the last event that the last checkpoint has folded is this old: long before retention may purge that
 * one, since nothing else tells that the log has what was folded.
 */
export const checkpointAgeMsMax = 3_600_000

// Live pages.
export const liveStreamsMax = 512
export const liveHeartbeatMs = 10_000
/** A page that changes all the time is pushed this often; a divisor of `liveHeartbeatMs`. */
export const livePushMs = 500
/** What may wait for a browser that reads slowly: past it, pushes are skipped, not queued. */
export const liveBytesWaitingMax = 256 * 1024
/** Streams of one session. Only visible pages have one, so these are many windows. The oldest stream gives way. */
export const liveStreamsPerSessionMax = 8
/** Time for rendering in each `livePushMs`; the piece under way when it is spent is finished. */
export const liveRenderMsPerTick = 100
/** After a rendering, a page rests for this many times as long as that took, at most `liveHeartbeatMs`. */
export const liveRestFactor = 50
/** Renderings that wait for the store at once. Beyond it, only pages that never read the store are begun. */
export const liveStoreWaitsMax = 32
/** Watchers of a page, and bytes, that are served before requests get a turn. */
export const liveSentPerPiece = 32
export const liveSentBytesPerPiece = 1024 * 1024
/** Keys counted for a page, and kegs searched for one, before requests get a turn: about a millisecond each. */
export const keysCountedPerPiece = 500
export const kegsSearchedPerPiece = 500
/** New kegs put in order before requests get a turn: fewer, since names are compared by the rules of a language. */
export const kegsOrderedPerPiece = 250

// Pages and their forms.
/** Keys on one page of a list: rendering them, again with every live push, must not hold up readings. */
export const keysPerPageMax = 100
/** Cellars on one page of their list, for the same reason. */
export const cellarsPerPageMax = 100
/** Kegs on one page of a cellar's readings, for the same reason. */
export const kegsPerPageMax = 100
/** Events on one page of a key's history. */
export const historyRowsPerPageMax = 100
/** What may be looked for among their names: a rack's, a space and a keg's. */
export const kegFilterCharsMax = 257
/** Words looked for at once; more are ignored, and the page says so. */
export const kegFilterWordsMax = 8
/** Kegs in the remembered results of a cellar's searches: 128 KiB. */
export const kegsFoundRememberedMax = 65_536

// The process.
export const drainMsMax = 10_000
/** How often a drain looks whether everything has settled. */
export const drainLookMs = 10
export const expirySweepMs = 60_000
export const formBodyBytesMax = 64 * 1024
export const unavailableRetryAfterSeconds = 1
/** A connection on which nothing comes or goes for so long is closed; above `liveHeartbeatMs`. */
export const connectionIdleSecondsMax = 30

// The command line and its socket.
/**
 * One command as JSON. More than a command line can hold, lest a word be refused here that is told its own bound when no
 * service runs: Linux has 128 KiB for a word, of which a command takes at most three, macOS 1 MiB for all, and JSON writes
 * a control character in six bytes.
 */
export const operationBytesMax = 8 * 1024 * 1024
/** Events put into one piece of `log read`: small enough that a page never holds up the readings that come in meanwhile. */
export const logReadPageEvents = 200
/** How long a command waits for another process that holds the data folder, and how often it looks. */
export const heldWaitMsMax = 10_000
export const heldRetryMs = 100
export const progressRedrawMs = 200
export const progressLineMs = 5_000
export const simulatedDevicesMax = 10_000
export const simulatedRateMax = 100_000
export const simulatedPostMsMax = 10_000

// The service's own log lines: past this many bytes waiting for a slow reader they are dropped, readings never.
export const logLinesBytesMax = 16 * 1024 * 1024
/** A terminal's Ctrl-C can reach a process twice, straight and through its launcher: so soon it is one and the same. */
export const sameSignalMsMax = 500
/** Before it stops listening, the service answers this long with `Connection: close`, so that clients let go unhurt. */
export const drainNoticeMs = 500
/** How often a service that npx started looks whether npx is still there. */
export const launcherLookMs = 250

// Lines about requests (`http/ingest/refusal-lines.ts`, `http/request-lines.ts`).
/** At most one such line in this time. */
export const refusalLineMs = 1_000
/** Keys, and addresses, that one line names. */
export const refusalLineNamesMax = 5
/** Keys, and addresses, that are counted at once. A count is too low by at most a 257th of the refused requests. */
export const refusalLineCountersMax = 256
/** Errors of requests and pages that are written whole in this time. Each has a stack, of a kilobyte or two. */
export const errorLinesMax = 10
export const errorLineMs = 1_000
/** Lines about refused sign-ins, forms and links in `traceLineMs`, including the line that sums up the rest. */
export const traceLinesMax = 10
export const traceLineMs = 1_000
