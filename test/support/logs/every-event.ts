import { type EventData, type EventType, eventTypes, type RecordedEvent } from '../../../src/domain/events.ts'

const noonMs = Date.UTC(2026, 2, 1, 12)
const dayMs = 86_400_000

/** The texts that people and devices choose, so that a test can put hostile texts into all events. */
export type EventTexts = (field: string) => string

const plain: EventTexts = (field) => `some ${field}`

/** Returns one event of each type. Each is in a stream where it can be, and has position 1. */
export const everyEvent = (texts: EventTexts = plain): readonly RecordedEvent[] => {
  const samples = samplesOf(texts)
  return eventTypes.map((type) => eventOf(type, samples[type]))
}

const eventOf = <T extends EventType>(type: T, data: EventData<T>): RecordedEvent =>
  ({
    type,
    data,
    id: `event-${type}`,
    stream: streamOf(type),
    revision: 3,
    position: 1,
    recordedAt: noonMs,
    metadata: {
      by: { kind: 'operator', email: 'ada@example.org', session: { id: 'a'.repeat(16), linkMadeBy: null } },
      requestId: 'request-1',
      correlationId: 'request-1',
      causationId: 'request-1',
    },
  }) as RecordedEvent

const streamOf = (type: EventType): string => {
  if (type === 'ReadingsPurged' || type === 'SilenceRuleSet' || type.startsWith('Cellar')) return 'cellar-1'
  if (type.startsWith('Attention')) return 'attention-1'
  if (type.startsWith('Webhook')) return 'attention-webhooks'
  if (type.startsWith('Delivery')) return 'attention-to-7Qp2mZ4k'
  if (type === 'ReadingsRefused') return 'refusals-7Qp2mZ4k'
  if (type.startsWith('Reading')) return 'readings-7Qp2mZ4k'
  if (type.startsWith('Key')) return 'key-7Qp2mZ4k'
  if (type.startsWith('Operator')) return 'operator-1'
  return type.startsWith('Record') || type.startsWith('SignIn') ? 'signins-node' : 'cellarbook-log'
}

type Samples = { readonly [T in EventType]: EventData<T> }

const samplesOf = (texts: EventTexts): Samples => ({
  ...samplesOfLog(texts),
  ...samplesOfCellars(texts),
  ...samplesOfKeys(texts),
  ...samplesOfOperators(texts),
  ...samplesOfWebhooks(texts),
})

const samplesOfWebhooks = (
  texts: EventTexts,
): Pick<Samples, Extract<EventType, `Webhook${string}` | `Delivery${string}`>> => {
  const message = { webhookId: '7Qp2mZ4k', messageId: 'msg_1', attempt: 2 }
  return {
    WebhookSet: { webhookId: '7Qp2mZ4k', url: texts('url'), kinds: ['silent', 'backup_old'], masterId: '0123abcd' },
    WebhookRemoved: { webhookId: '7Qp2mZ4k' },
    DeliveryBegun: { ...message, of: { stream: 'attention-1', revision: 3 }, node: texts('node') },
    DeliveryEnded: {
      ...message,
      outcome: 'failed',
      status: 500,
      answer: texts('answer'),
      why: texts('why'),
      tookMs: 42,
      givenUpTo: noonMs,
    },
  }
}

const samplesOfLog = (
  texts: EventTexts,
): Pick<Samples, Extract<EventType, `Log${string}` | `Record${string}` | 'RevisionVacant'>> => ({
  LogCreated: { logId: 'log-1' },
  LogCopyBegun: { copyId: 'copy-1' },
  LogCopyEnded: { digest: 'd', events: 1_234 },
  RevisionVacant: {},
  LogSchemaAccepted: { differences: [texts('difference')] },
  LogLossAccepted: { lastPosition: 100, knownPosition: 120, findings: [texts('finding')] },
  LogRestored: { restoredId: 'log-2', lastPosition: 100, lastRecordedAt: noonMs },
  LogExported: {
    phase: 'cut_off',
    begunRevision: 3,
    list: 'events',
    format: 'csv',
    filter: { cellar: texts('cellar') },
    address: texts('address'),
    rows: 1_234,
    why: texts('why'),
  },
  RecordsPurged: { firstRevision: 0, lastRevision: 41, recordedBefore: 20_000 * dayMs },
  RecordUnreadable: { type: texts('type'), why: texts('why') },
})

const samplesOfCellars = (
  texts: EventTexts,
): Pick<
  Samples,
  Extract<EventType, `Cellar${string}` | `Attention${string}` | 'SilenceRuleSet' | 'ReadingsPurged' | 'ReadingAccepted'>
> => ({
  CellarCreated: { cellar: texts('cellar'), title: texts('title') },
  CellarRenamed: { title: texts('new title') },
  CellarUnitSet: { keg: texts('keg'), unit: texts('unit') },
  SilenceRuleSet: { rack: texts('rack'), keg: texts('keg'), after: 3_600_000 },
  AttentionChanged: {
    cellar: texts('cellar'),
    began: [
      { kind: 'silent', sinceMs: noonMs, rack: texts('rack'), keg: texts('keg'), afterMs: 60_000 },
      { kind: 'silent', sinceMs: noonMs, rack: texts('rack'), count: 12 },
    ],
    ended: [
      { kind: 'key_expires', sinceMs: noonMs, keyId: '7Qp2mZ4k', dueMs: noonMs + dayMs },
      { kind: 'silent', sinceMs: noonMs, rack: texts('rack'), keg: texts('keg'), isGone: true },
      { kind: 'silent', sinceMs: noonMs, rack: texts('rack'), keg: texts('keg'), isPart: true },
      { kind: 'silent', sinceMs: noonMs, rack: texts('rack'), hasParts: true },
    ],
    now: [{ kind: 'silent', sinceMs: noonMs, rack: texts('rack'), count: 12 }],
    more: 0,
  },
  AttentionRested: {
    cellar: texts('cellar'),
    kind: 'silent',
    rack: texts('rack'),
    untilMs: noonMs + dayMs,
  },
  CellarPolicyChanged: {
    policy: { limit: null, readingAgeMsMax: null, readingAheadMsMax: null, retentionMs: 365 * dayMs },
  },
  ReadingsPurged: {
    cellar: texts('cellar'),
    keyId: '7Qp2mZ4k',
    firstRevision: 0,
    lastRevision: 99,
    readings: 98,
    acceptedBefore: 20_000 * dayMs,
    lastAcceptedAt: 20_000 * dayMs - 1,
  },
  ReadingAccepted: {
    cellar: texts('cellar'),
    rack: texts('rack'),
    keg: texts('keg'),
    value: 21.5,
    timestamp: '2026-03-01T12:00:00Z',
  },
})

const samplesOfKeys = (
  texts: EventTexts,
): Pick<Samples, Extract<EventType, `Key${string}` | 'ReadingsSealed' | 'ReadingsFenced' | 'ReadingsRefused'>> => ({
  KeyCreated: {
    keyId: '7Qp2mZ4k',
    cellar: texts('cellar'),
    label: texts('label'),
    note: texts('note'),
    secretHash: 'f'.repeat(64),
    limit: null,
    expiresAt: noonMs + dayMs,
    predecessorId: '8Qp2mZ4k',
  },
  KeyRelabelled: { label: texts('new label'), note: texts('new note') },
  KeyLimitChanged: { limit: { readings: 600, windowMs: 60_000 } },
  KeyExpirySet: { expiresAt: noonMs + 2 * dayMs },
  KeyRotated: { successorId: '9Qp2mZ4k', overlapMs: dayMs },
  KeySuperseded: { successorId: '9Qp2mZ4k', usedAt: noonMs, expiresAt: noonMs + dayMs },
  KeySuspended: { reason: texts('reason') },
  KeyResumed: { reason: texts('reason') },
  KeyExpired: { expiresAt: noonMs },
  KeyRevoked: { reason: texts('reason'), sealId: 'seal-1' },
  ReadingsSealed: { reason: texts('reason') },
  ReadingsFenced: { keyRevision: 3 },
  ReadingsRefused: {
    from: noonMs,
    to: noonMs + 9_000,
    counts: [
      { code: 'RATE_LIMITED', count: 14 },
      { code: 'CODE_OF_LATER_VERSION', count: 1 },
    ],
    samples: [
      {
        requestId: 'request-1',
        atMs: noonMs,
        code: 'RATE_LIMITED',
        field: null,
        rule: 'readings',
        rack: texts('rack'),
        keg: texts('keg'),
      },
    ],
  },
})

const samplesOfOperators = (
  texts: EventTexts,
): Pick<Samples, Extract<EventType, `Operator${string}` | `SignIn${string}`>> => ({
  OperatorLinkIssued: {
    email: texts('email'),
    role: 'auditor',
    linkHash: 'h',
    expiresAt: noonMs + dayMs,
    purpose: 'invite',
  },
  OperatorLinkUsed: { linkHash: 'h', email: texts('email') },
  OperatorAdded: { email: texts('email'), role: 'admin', passwordHash: 'p', linkHash: 'h', linkMadeBy: texts('maker') },
  OperatorPasswordSet: { passwordHash: 'p', linkHash: 'h', linkMadeBy: texts('maker') },
  OperatorRoleChanged: { role: 'auditor' },
  OperatorRemoved: {},
  OperatorSignedIn: {
    sessionHash: 'a'.repeat(64),
    expiresAt: noonMs + dayMs,
    idleAt: noonMs + 1_800_000,
    deviceHash: null,
    seenRevision: 5,
  },
  OperatorSessionRenewed: { sessionHash: 'a'.repeat(64), idleAt: noonMs + 1_800_000 },
  OperatorSignedOut: { sessionHash: 'a'.repeat(64) },
  SignInSeen: { email: texts('email'), sessionId: 'a'.repeat(16), address: '192.0.2.7', browser: texts('browser') },
  SignInsRefused: {
    from: noonMs,
    to: noonMs + 60_000,
    accounts: [{ email: texts('email'), failed: 3, throttled: 2, addresses: ['198.51.100.23'] }],
    others: { failed: 0, throttled: 0 },
  },
})
