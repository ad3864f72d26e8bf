import type { By, EventType, Limit } from '../../src/domain/events.ts'
import { type KeyStatus, keyStatuses } from '../../src/domain/key-refusal.ts'
import { changesOf } from '../../src/domain/search/event-changes.ts'
import { nothingBefore } from '../../src/domain/search/state-before.ts'
import { CellarThenPage } from '../../views/cellars/cellar-then.tsx'
import { CellarsPage } from '../../views/cellars/cellars-page.tsx'
import { NewCellarPage } from '../../views/cellars/new-cellar.tsx'
import { ReadingsPage } from '../../views/cellars/readings-page.tsx'
import { ConfirmRetentionPage } from '../../views/cellars/retention-form.tsx'
import { SettingsPage } from '../../views/cellars/settings-page.tsx'
import { SilencePage } from '../../views/cellars/silence-rule.tsx'
import { UnitPage } from '../../views/cellars/units.tsx'
import { ExportPage } from '../../views/exports/export-form.tsx'
import { DocumentPage } from '../../views/frame/document.tsx'
import { InsecurePage } from '../../views/frame/insecure.tsx'
import { type PageProblem, ProblemPage } from '../../views/frame/problem-page.tsx'
import type { Turn } from '../../views/kegs/in-pieces.ts'
import { ConfirmPage, type KeyAction } from '../../views/keys/key-confirm.tsx'
import { FirstReading, KeyCreatedPage } from '../../views/keys/key-created.tsx'
import { EditKeyPage, NewKeyPage } from '../../views/keys/key-form.tsx'
import type { KeyListView, KeyQuery } from '../../views/keys/key-list-types.ts'
import { KeyPage } from '../../views/keys/key-page.tsx'
import { RotateKeyPage } from '../../views/keys/key-rotate.tsx'
import { AllKeysPage, KeysPage } from '../../views/keys/keys-page.tsx'
import { sentenceOf } from '../../views/log/sentence.ts'
import type { Names } from '../../views/log/sentence-parts.ts'
import { AccountPage } from '../../views/operators/account-page.tsx'
import { LinkPage, type LinkPurpose, LinkSpentPage } from '../../views/operators/link-page.tsx'
import { ConfirmAccessPage } from '../../views/operators/operator-confirm.tsx'
import { OperatorLinkPage, OperatorsPage } from '../../views/operators/operators-page.tsx'
import { OpenFormPage, SignInPage } from '../../views/operators/sign-in-page.tsx'
import type {
  CellarThen,
  CellarView,
  EventThen,
  Form,
  HealthReason,
  HistoryEntry,
  HistoryView,
  KegListView,
  KegOrder,
  KeyView,
  NewKeyField,
  PredecessorView,
  ReadingsState,
  ReadingView,
  SessionRow,
  Shell,
  SignInHistoryRow,
  StateAt,
  SuccessorView,
} from '../../views/types.ts'
import { everyEvent } from '../support/logs/every-event.ts'
import { logPages, sampleLogList, sampleRefusalCounts, sampleRefusalRows } from './log-pages.ts'
import { attentionPages, sampleRules } from './sample-attention-pages.ts'
import { healthPages } from './sample-health-pages.ts'
import { kegPages } from './sample-keg-pages.ts'
import { rotationCardPages, sampleRacks } from './sample-rotation-pages.ts'
import { severalKeysPages } from './sample-several-keys.ts'
import { webhookPages } from './sample-webhook-pages.ts'

/** This is 2026-11-21T10:14:07.123Z. */
export const nowMs = 1_795_256_047_123
export const sampleKey = 'clr_7Qp2abCd_4fXk9TqW2nLr8vYb5mZc7pGh3sJd6uKe1wAa0xQ94fGh2J1k0b3Z'

const limit: Limit = { readings: 6_000, windowMs: 60_000 }
const second = 1_000
const day = 86_400_000

/** Returns the text of a field, so that a test can put hostile text into all fields of all pages. */
export type Texts = (field: TextField) => string

export type TextField =
  | 'cellar'
  | 'title'
  | 'label'
  | 'note'
  | 'reason'
  | 'rack'
  | 'keg'
  | 'timestamp'
  | 'unit'
  | 'email'
  | 'browser'
  | 'typed'
  | 'shown'
  | 'fault'
  | 'notice'
  | 'next'
  | 'baseUrl'
  | 'url'

export const harmless: Texts = (field) =>
  ({
    cellar: 'wine-berlin',
    title: 'Wine cellar, Berlin',
    label: 'Fermentation controller',
    note: 'Racks 1 to 40, north vault. Ask Marta before you touch it.',
    reason: 'Laptop stolen; ticket 4711',
    rack: 'rack-17',
    keg: 'temperature',
    timestamp: '2026-11-21T10:14:05Z',
    unit: '°C',
    email: 'marta@example.com',
    browser: 'Firefox 128 on Windows',
    typed: '2026-11-21 10:14:07',
    shown: 'label=Pump+%26+press',
    fault: 'At most 80 characters.',
    notice: 'Saved.',
    next: '/cellars',
    baseUrl: 'https://cellar.example.com',
    url: 'https://cellar.example.com/link/9fQ2xkV0sTnYbL7cRw3mZ5',
  })[field]

export type Page = { readonly name: string; readonly html: JSX.Element }

export const everyPage = (texts: Texts, turn?: Turn): readonly Page[] => [
  ...pagesBeforeSignIn(texts),
  ...cellarListPages(texts),
  ...readingsPages(texts),
  ...kegPages(texts, { shell: shellOf(texts, 'admin'), cellar: cellarOf(texts), turn }),
  ...settingsPages(texts),
  ...keyListPages(texts),
  ...keyFormPages(texts),
  ...keyPages(texts),
  ...severalKeysPages(texts, shellOf(texts, 'admin')),
  ...logPages(texts, shellOf(texts, 'auditor')),
  ...attentionPages(texts, { shell: (role) => shellOf(texts, role), nowMs }),
  ...webhookPages(texts, { shell: (role) => shellOf(texts, role), nowMs }),
  ...healthPages(texts, { shell: shellOf(texts, 'auditor'), nowMs }),
  ...accountPages(texts),
  ...operatorPages(texts),
  exportRefused(texts),
  ...problemPages(texts),
]

const shellOf = (texts: Texts, role: 'admin' | 'auditor' | null): Shell => ({
  nowMs,
  operator: role === null ? null : { email: texts('email'), role },
  csrf: 'c5rf-token',
  assets: {
    css: '/assets/app.css?v=1',
    js: '/assets/app.js?v=1',
    icon: '/assets/icon.svg?v=1',
    htmx: '/assets/htmx.min.js?v=1',
    htmxSse: '/assets/hx-sse.min.js?v=1',
    uplot: '/assets/uplot.min.js?v=1',
    chart: '/assets/chart.js?v=1',
  },
  attention: 0,
  insecureHttp: false,
  reasons: [],
  notice: null,
})

const almostFull: HealthReason = {
  what: 'The disk is almost full.',
  meanwhile: 'Readings are refused with 503 STORAGE_FULL. Signing in, revoking keys and settings still work.',
  remedy: 'Make room on the disk, or keep readings for fewer days. Then readings continue automatically.',
  why: 'the disk has 250 MiB free, of which the log still needs 12 MiB; free pages of the log take 0 MiB; DISK_RESERVE is 256 MiB',
}

const indexUnusable: HealthReason = {
  what: 'The index of idempotency keys cannot be used.',
  meanwhile: 'Readings with an Idempotency-Key are refused with 503. Others are stored.',
  remedy: 'Check the disk of DATA_DIR. The index is rebuilt automatically.',
  why: 'Cannot use the index of idempotency keys: <disk I/O error> & "database disk image is malformed"',
}

const form = <Values, Faults = Record<never, string>>(
  values: Values,
  ...faults: readonly Faults[]
): { readonly values: Values; readonly faults: Faults | Record<never, string> } => ({ values, faults: faults[0] ?? {} })

const editForm = <Values, Faults = Record<never, string>>(
  texts: Texts,
  values: Values,
  ...faults: readonly Faults[]
) => ({ ...form(values, ...faults), shown: texts('shown') })

const pagesBeforeSignIn = (texts: Texts): readonly Page[] => {
  const shell = shellOf(texts, null)
  const empty = form({ email: '', password: '' })
  const purposes: readonly LinkPurpose[] = [
    { kind: 'set_up', role: 'admin', isFirst: true },
    { kind: 'set_up', role: 'auditor', isFirst: false },
    { kind: 'join', email: texts('email'), role: 'auditor' },
    { kind: 'reset', email: texts('email') },
  ]
  return [
    ...purposes.map((purpose) => ({
      name: `link-${purpose.kind}${purpose.kind === 'set_up' && !purpose.isFirst ? '-later' : ''}`,
      html: LinkPage({ shell, secret: 's3cret', purpose, form: empty, passwordCharsMin: 12 }),
    })),
    {
      name: 'link-refused',
      html: LinkPage({
        shell,
        secret: 's3cret',
        purpose: { kind: 'set_up', role: 'admin', isFirst: true },
        form: form(
          { email: texts('typed'), password: '' },
          { email: texts('fault'), password: texts('fault'), form: texts('fault') },
        ),
        passwordCharsMin: 12,
      }),
    },
    { name: 'link-spent', html: LinkSpentPage({ shell, program: '<b>run</b>' }) },
    {
      name: 'sign-in',
      html: SignInPage({
        shell,
        form: form({ email: '' }),
        next: texts('next'),
        kept: '',
        isFresh: false,
        program: '<b>run</b>',
      }),
    },
    {
      name: 'sign-in-refused',
      html: SignInPage({
        shell: { ...shell, insecureHttp: true, notice: { words: texts('notice'), isSuccess: false } },
        form: form({ email: texts('typed') }, { form: texts('fault') }),
        next: texts('next'),
        kept: texts('typed'),
        isFresh: true,
        program: '<b>run</b>',
      }),
    },
    {
      name: 'open-form',
      html: OpenFormPage({
        shell,
        action: '/cellars',
        fields: [
          ['_csrf', shell.csrf],
          [texts('label'), texts('typed')],
        ],
      }),
    },
    { name: 'insecure', html: InsecurePage({ shell, port: 3000 }) },
  ]
}

const silencePages = (texts: Texts, { admin, cellar }: { readonly admin: Shell; readonly cellar: CellarView }) => {
  const around = sampleRules(texts)
  const page = { shell: admin, cellar, around, cancel: '/cellars/c/settings' }
  const refused = { after: texts('fault'), form: texts('fault') }
  return [
    {
      name: 'silence',
      html: SilencePage({ ...page, rule: around[0], form: editForm(texts, { silence: 'never', after: '' }) }),
    },
    {
      name: 'silence-refused',
      html: SilencePage({
        ...page,
        rule: around[2] ?? around[0],
        form: editForm(texts, { silence: 'after', after: texts('typed') }, refused),
      }),
    },
  ]
}

const cellarOf = (texts: Texts): CellarView => ({
  cellar: texts('cellar'),
  title: texts('title'),
  policy: { limit: null, readingAgeMsMax: 30 * day, readingAheadMsMax: null, retentionMs: 365 * day },
  units: new Map([[texts('keg'), texts('unit')]]),
  silence: [
    { rack: texts('rack'), keg: null, after: 2 * 3_600_000 },
    { rack: texts('rack'), keg: texts('keg'), after: 'never' },
  ],
  createdAt: nowMs - 40 * day,
  createdBy: { kind: 'operator', email: texts('email') },
})

export const sampleReading = (texts: Texts): ReadingView => readingOf(texts, 0, 21.5)

const readingOf = (texts: Texts, at: number, value: number): ReadingView => ({
  stream: 'readings-7Qp2abCd',
  revision: 4_000 - at,
  position: 90_000 - at,
  keyId: '7Qp2abCd',
  keyLabel: texts('label'),
  recordedAt: nowMs - at * 1_700,
  cellar: texts('cellar'),
  rack: texts('rack'),
  keg: texts('keg'),
  unit: texts('unit'),
  value,
  timestamp: texts('timestamp'),
  clockSkew: at === 2,
})

const wave = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Math.round(100 * (21.5 + Math.sin(at / 5) + Math.cos(at * 1.7) / 4)) / 100)

const newCellar = form({ cellar: '', title: '', first_key: 'now', label: '' })
const noCellars = { cellars: [], page: 1, pages: 1, find: '', typed: '', found: 0, all: 0 }

const cellarListPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const auditor = shellOf(texts, 'auditor')
  const cellar = cellarOf(texts)
  const row = {
    cellar: cellar.cellar,
    title: cellar.title,
    activeKeys: 3,
    keys: 5,
    accepted: 1_284_003,
    lately: 412,
    lastReadingAt: nowMs - 2 * second,
  }
  return [
    { name: 'cellars-empty', html: CellarsPage({ shell: admin, ...noCellars }) },
    { name: 'cellars-empty-auditor', html: CellarsPage({ shell: auditor, ...noCellars }) },
    {
      name: 'cellars',
      html: CellarsPage({
        shell: {
          ...admin,
          notice: { words: texts('notice'), isSuccess: true },
          insecureHttp: true,
          reasons: [almostFull, indexUnusable],
        },
        cellars: [row, { ...row, activeKeys: 0, keys: 0, accepted: 0, lately: null, lastReadingAt: null }],
        page: 2,
        pages: 3,
        find: texts('typed'),
        typed: texts('typed'),
        found: 212,
        all: 300,
      }),
    },
    { name: 'new-cellar', html: NewCellarPage({ shell: admin, form: newCellar, keyId: '4fGh7kLm', existing: null }) },
    {
      name: 'new-cellar-refused',
      html: NewCellarPage({
        shell: admin,
        form: form(
          { cellar: texts('typed'), title: texts('typed'), first_key: 'later', label: texts('typed') },
          { cellar: texts('fault'), title: texts('fault'), label: texts('fault') },
        ),
        keyId: '4fGh7kLm',
        existing: row,
      }),
    },
  ]
}

const readingsPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const auditor = shellOf(texts, 'auditor')
  const cellar = cellarOf(texts)
  const readings = wave(8).map((value, at) => readingOf(texts, at, value))
  const gap = Array.from({ length: 12 }, () => null)
  const days = [[...wave(20), ...gap, ...wave(16)], [...wave(34), ...gap, 7e-6, null], [-1e308, 1e308], gap]
  const kegs = days.map((day, at) => ({
    rack: texts('rack'),
    keg: texts('keg'),
    unit: texts('unit'),
    latest: readingOf(texts, at, day.findLast((mean) => mean !== null) ?? 0),
    acceptedMs: nowMs - at * 3 * 3_600_000 - 8_000,
    isSilent: at > 0,
    day,
  }))
  const racks = [{ rack: texts('rack'), kegs: kegs.length, silent: 3, acceptedMs: nowMs - 8_000 }]
  const order: KegOrder = { sort: 'name', isReversed: false, silentFirst: false }
  const shown = { kegs, racks, order, found: kegs.length, all: kegs.length }
  const allKegs: KegListView = { ...shown, find: '', page: 1, pages: 1 }
  const manyKegs: KegListView = {
    ...allKegs,
    racks: [],
    order: { ...order, sort: 'age', isReversed: true },
    found: 9_803,
    all: 9_803,
    pages: 99,
  }
  const foundKegs = { find: texts('typed'), found: 203, pages: 3 }
  const refusals = { counts: sampleRefusalCounts(texts), isLate: false }
  const state: ReadingsState = { kind: 'current' }
  const unsearched = { typed: '', ignoredWords: [], isPaused: false }
  const searched = { typed: texts('typed'), ignoredWords: [texts('typed')], isPaused: true }
  const noKegs: KegListView = { ...allKegs, kegs: [], found: 0, all: 0 }
  return [
    {
      name: 'readings',
      html: ReadingsPage({
        shell: admin,
        cellar,
        kegs: allKegs,
        readings,
        ...unsearched,
        state,
        hasActiveKey: true,
        refusals,
      }),
    },
    {
      name: 'readings-page',
      html: ReadingsPage({
        shell: admin,
        cellar,
        kegs: { ...manyKegs, page: 2 },
        readings,
        ...unsearched,
        state,
        hasActiveKey: true,
        refusals,
      }),
    },
    {
      name: 'readings-found',
      html: ReadingsPage({
        shell: admin,
        cellar,
        kegs: { ...manyKegs, ...foundKegs },
        readings,
        ...searched,
        state,
        hasActiveKey: true,
        refusals,
      }),
    },
    {
      name: 'readings-not-found',
      html: ReadingsPage({
        shell: admin,
        cellar,
        kegs: { ...manyKegs, ...foundKegs, kegs: [], found: 0, pages: 1 },
        readings,
        ...searched,
        state,
        hasActiveKey: true,
        refusals,
      }),
    },
    {
      name: 'readings-empty',
      html: ReadingsPage({
        shell: admin,
        cellar,
        kegs: noKegs,
        readings: [],
        ...unsearched,
        state,
        hasActiveKey: false,
        refusals: { counts: [], isLate: false },
      }),
    },
    {
      name: 'readings-waiting',
      html: ReadingsPage({
        shell: auditor,
        cellar,
        kegs: noKegs,
        readings: [],
        ...unsearched,
        state,
        hasActiveKey: true,
        refusals,
      }),
    },
    ...(
      [
        ['readings-behind', { kind: 'behind', asOfMs: nowMs - 90 * second }, readings],
        ['readings-not-ready', { kind: 'behind', asOfMs: null }, []],
        ['readings-away', { kind: 'away' }, []],
        ['readings-log-away', { kind: 'log_away' }, []],
      ] as const
    ).map(([name, otherState, shown]) => ({
      name,
      html: ReadingsPage({
        shell: auditor,
        cellar,
        kegs: shown.length === 0 ? noKegs : allKegs,
        readings: shown,
        ...unsearched,
        state: otherState,
        hasActiveKey: true,
        refusals: { counts: shown.length === 0 ? [] : refusals.counts, isLate: true },
      }),
    })),
  ]
}

const settingsPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const auditor = shellOf(texts, 'auditor')
  const cellar = cellarOf(texts)
  const policy = editForm(texts, { limit_readings: '', limit_seconds: '', age_max: '30d', ahead_max: '' })
  const settings = {
    cellar,
    rename: editForm(texts, { title: texts('title') }),
    policy,
    retention: form({ days: '365' }),
    defaultLimit: limit,
  }
  const keepAYear = { shell: admin, retentionMs: 365 * day, purgeBefore: nowMs - 366 * day }
  return [
    { name: 'settings', html: SettingsPage({ shell: admin, ...settings }) },
    { name: 'settings-auditor', html: SettingsPage({ shell: auditor, ...settings }) },
    {
      name: 'settings-without-units',
      html: SettingsPage({ shell: admin, ...settings, cellar: { ...cellar, units: new Map() } }),
    },
    ...[true, false].map((isKegGiven) => ({
      name: isKegGiven ? 'unit' : 'unit-refused',
      html: UnitPage({
        shell: admin,
        cellar,
        isKegGiven,
        rack: texts('rack'),
        form: isKegGiven
          ? editForm(texts, { keg: texts('keg'), unit: texts('unit') })
          : editForm(
              texts,
              { keg: texts('typed'), unit: texts('typed') },
              { keg: texts('fault'), unit: texts('fault'), form: texts('fault') },
            ),
        cancel: '/cellars/c/settings',
      }),
    })),
    ...silencePages(texts, { admin, cellar }),
    {
      name: 'confirm-retention',
      html: ConfirmRetentionPage({ ...keepAYear, cellar, form: { ...form({ days: '365' }), shown: '' } }),
    },
    {
      name: 'confirm-retention-for-ever',
      html: ConfirmRetentionPage({
        shell: admin,
        cellar: { ...cellar, policy: { ...cellar.policy, retentionMs: day } },
        retentionMs: null,
        purgeBefore: null,
        form: { ...form({ days: '' }), shown: '' },
      }),
    },
    {
      name: 'settings-refused',
      html: SettingsPage({
        shell: admin,
        cellar: { ...cellar, policy: { limit, readingAgeMsMax: null, readingAheadMsMax: 600_000, retentionMs: null } },
        rename: editForm(texts, { title: texts('typed') }, { title: texts('fault'), form: texts('fault') }),
        policy: editForm(
          texts,
          {
            limit_readings: texts('typed'),
            limit_seconds: texts('typed'),
            age_max: texts('typed'),
            ahead_max: texts('typed'),
          },
          {
            limit_readings: texts('fault'),
            limit_seconds: texts('fault'),
            age_max: texts('fault'),
            ahead_max: texts('fault'),
          },
        ),
        retention: form({ days: texts('typed') }, { days: texts('fault'), form: texts('fault') }),
        defaultLimit: limit,
      }),
    },
  ]
}

const keyOf = (texts: Texts, status: KeyStatus): KeyView => {
  const by: By = { kind: 'operator', email: texts('email') }
  return {
    keyId: '7Qp2abCd',
    cellar: texts('cellar'),
    label: texts('label'),
    note: texts('note'),
    status,
    limit,
    ownLimit: null,
    expiresAt: status === 'expired' ? nowMs - 2 * day : status === 'active' ? nowMs + 29 * day : null,
    created: { at: nowMs - 31 * day, by, reason: '' },
    suspended: status === 'suspended' ? { at: nowMs - day, by, reason: texts('reason') } : null,
    canRotate: status === 'active',
    successor: null,
    predecessor: null,
    revoked: status === 'revoked' ? { at: nowMs - 3_600_000, by: { kind: 'cli' }, reason: texts('reason') } : null,
    lastUsedAt: nowMs - 12 * second,
    lastCheckedAt: nowMs - 86 * second,
    accepted: 48_213,
    used: 2_520,
    lastRefusal: { at: nowMs - 340 * second, code: 'RATE_LIMITED', isCost: true, cause: 'MALFORMED_JSON' },
  }
}

const unusedKeyOf = (texts: Texts): KeyView => ({
  ...keyOf(texts, 'active'),
  keyId: '0aZ9bY8c',
  note: '',
  limit: { readings: 100, windowMs: 3_600_000 },
  ownLimit: { readings: 100, windowMs: 3_600_000 },
  expiresAt: null,
  created: { at: nowMs - 90 * second, by: { kind: 'cli' }, reason: '' },
  lastUsedAt: null,
  lastCheckedAt: null,
  accepted: 0,
  used: null,
  lastRefusal: null,
})

/** A history with every type of event about a key, newest first. */
const historyEntries = (texts: Texts): readonly HistoryEntry[] =>
  everyEvent(() => texts('reason'))
    .filter(({ type }) => /^(Key|Readings)/.test(type))
    .map((event, at): HistoryEntry => {
      const line = {
        type: event.type,
        at: nowMs - at * 3_611_007,
        sentence: sentenceOf(event, nothingBefore, namesOf(texts)),
        changes: changesOf(event, nothingBefore),
        stream: event.stream,
        revision: at,
        position: 1_200 + at * 37,
      }
      return {
        requestId: '0198c7a2-5f1e-7c3a-9d20-3b6f1f0e8a11',
        by: { kind: 'operator', email: texts('email'), session: { id: 'a', linkMadeBy: texts('email') } },
        lines: [line, line],
        status: keyStatuses[at % keyStatuses.length] ?? 'active',
        expiresAt: nowMs + day,
      }
    })

const namesOf = (texts: Texts): Names => ({
  keyLabel: () => texts('label'),
  cellarTitle: () => texts('title'),
  cellarOfStream: () => texts('cellar'),
  emailOfStream: () => texts('email'),
  unitOf: () => texts('unit'),
  webhookHost: () => texts('title'),
})

const historyView = (texts: Texts, isEverything: boolean): HistoryView => ({
  entries: historyEntries(texts),
  page: isEverything ? 2 : 1,
  pages: isEverything ? 3 : 1,
  isEverything,
  internal: 3,
})

const emptyHistory: HistoryView = { entries: null, page: 1, pages: 1, isEverything: false, internal: 0 }

const eventThen = (texts: Texts, type: EventType): EventThen => {
  const event = everyEvent(() => texts('reason')).find((one) => one.type === type)
  if (event === undefined) throw new Error(`There is no sample of ${type}`)
  const sentence = sentenceOf(event, nothingBefore, namesOf(texts))
  const by: By = { kind: 'operator', email: texts('email') }
  return { stream: event.stream, revision: 3, position: 1, at: nowMs - day, by, reason: texts('reason'), sentence }
}

const stateThen = (texts: Texts, status: KeyStatus): StateAt => ({
  typed: texts('typed'),
  answer: {
    kind: 'known',
    at: nowMs,
    key: {
      status,
      label: texts('label'),
      note: texts('note'),
      expiresAt: status === 'suspended' ? null : nowMs + day,
      limit: status === 'suspended' ? null : limit,
      hasOwnLimit: status === 'active',
    },
    decidedBy: eventThen(texts, 'KeySuspended'),
    previous: eventThen(texts, 'KeyRelabelled'),
    next: status === 'revoked' ? null : eventThen(texts, 'KeyRevoked'),
  },
})

const thenPages = (texts: Texts): readonly Page[] => {
  const [shell, cellar] = [shellOf(texts, 'auditor'), cellarOf(texts)]
  const row = { label: texts('label'), status: 'active' as const, ownLimit: null, expiresAt: nowMs + day }
  const answer: CellarThen = {
    at: nowMs - day,
    cellar,
    isKnown: true,
    keys: [
      { keyId: '7Qp2abCd', state: row },
      { keyId: '0aZ9bY8c', state: null },
    ],
    isCutOff: true,
    all: 2,
    page: 1,
    pages: 3,
  }
  const common = { shell, cellar, refused: null, defaultLimit: limit }
  return [
    { name: 'cellar-then', html: CellarThenPage({ ...common, answer: answer }) },
    {
      name: 'cellar-then-unknown',
      html: CellarThenPage({ ...common, answer: { ...answer, cellar: null, isKnown: false } }),
    },
    {
      name: 'cellar-then-refused',
      html: CellarThenPage({ ...common, answer: null, refused: { typed: texts('typed'), rule: texts('fault') } }),
    },
  ]
}

const keyListPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const auditor = shellOf(texts, 'auditor')
  const cellar = cellarOf(texts)
  const list = (keys: readonly KeyView[], query: Partial<KeyQuery> = {}) => keyListOf(texts, keys, query)
  const common = { shell: admin, cellar, typed: '', baseUrl: texts('baseUrl') }
  const all = { shell: admin, typed: texts('typed') }
  const keys = keyStatuses.map((status) => keyOf(texts, status))
  const everyFilter = {
    words: [texts('typed')],
    status: 'all',
    expires: '7',
    unused: 'never',
    nearLimit: true,
    refusedToday: true,
    rotation: true,
    sort: 'label',
    isReversed: true,
    isPaused: true,
  } as const
  return [
    ...keyStatuses.map((status) => ({
      name: `keys-${status}`,
      html: KeysPage({
        ...common,
        list: list(status === 'active' ? [keyOf(texts, status), unusedKeyOf(texts)] : [keyOf(texts, status)], {
          status,
        }),
      }),
    })),
    { name: 'keys-auditor', html: KeysPage({ ...common, shell: auditor, list: list([keyOf(texts, 'active')]) }) },
    { name: 'keys-none', html: KeysPage({ ...common, list: { ...list([]), all: 0 } }) },
    { name: 'keys-none-expired', html: KeysPage({ ...common, list: list([], { status: 'expired' }) }) },
    { name: 'all-keys', html: AllKeysPage({ ...all, list: { ...list(keys, everyFilter), isBehind: true } }) },
    { name: 'all-keys-auditor', html: AllKeysPage({ ...all, shell: auditor, list: list(keys, { status: 'all' }) }) },
    { name: 'all-keys-not-found', html: AllKeysPage({ ...all, list: list([], { words: [texts('typed')] }) }) },
    { name: 'all-keys-none', html: AllKeysPage({ ...all, list: { ...list([]), all: 0 } }) },
  ]
}

const keyListOf = (texts: Texts, keys: readonly KeyView[], query: Partial<KeyQuery>): KeyListView => {
  const accepted = Array.from({ length: 24 }, (_, hour) => (hour < 3 ? 0 : 40 + 13 * (hour % 5)))
  const refused = accepted.map((_, hour) => (hour === 20 ? 32 : 0))
  return {
    query: { ...anyQuery, ...query },
    keys: keys.map((key, at) => ({
      ...key,
      keyId: `${key.keyId.slice(0, -1)}${at}`,
      cellarTitle: texts('title'),
      day:
        key.lastUsedAt === null
          ? null
          : { accepted, refused, busiest: 2_520, share: 0.42, racks: [texts('rack')], racksTotal: 4 },
      racks: key.successor === null ? null : sampleRacks(texts, nowMs),
    })),
    found: 2 * keys.length,
    all: 1_001,
    counts: { all: 5, active: 2, expired: 1, suspended: 1, revoked: 1 },
    pages: 3,
    isBehind: false,
    mayLack: false,
  }
}

const anyQuery: KeyQuery = {
  cellar: null,
  words: [],
  status: 'active',
  expires: null,
  unused: null,
  nearLimit: false,
  refusedToday: false,
  rotation: false,
  sort: 'created',
  isReversed: false,
  page: 1,
  isPaused: false,
}

const keyFormPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const cellar = cellarOf(texts)
  const newKey: Form<NewKeyField> = form({
    label: '',
    note: '',
    expires: '90d',
    expires_on: '',
    limit_readings: '',
    limit_seconds: '',
  })
  const refused: Form<NewKeyField> = form(
    {
      label: texts('typed'),
      note: texts('typed'),
      expires: 'date',
      expires_on: texts('typed'),
      limit_readings: texts('typed'),
      limit_seconds: texts('typed'),
    },
    {
      label: texts('fault'),
      note: texts('fault'),
      expires: texts('fault'),
      expires_on: texts('fault'),
      limit_readings: texts('fault'),
      limit_seconds: texts('fault'),
      form: texts('fault'),
    },
  )
  const apiKey = keyOf(texts, 'active')
  return [
    {
      name: 'new-key',
      html: NewKeyPage({ shell: admin, cellar, form: newKey, keyId: '4fGh7kLm', cellarLimit: limit }),
    },
    {
      name: 'new-key-refused',
      html: NewKeyPage({ shell: admin, cellar, form: refused, keyId: '4fGh7kLm', cellarLimit: limit }),
    },
    {
      name: 'edit-key',
      html: EditKeyPage({
        shell: admin,
        cellar,
        apiKey,
        form: editForm(texts, { ...newKey.values, label: texts('label'), note: texts('note'), expires: 'keep' }),
        cellarLimit: limit,
      }),
    },
    {
      name: 'key-created',
      html: KeyCreatedPage({
        shell: admin,
        cellar,
        apiKey,
        secretText: sampleKey,
        replaced: null,
        baseUrl: texts('baseUrl'),
      }),
    },
  ]
}

const keyPages = (texts: Texts): readonly Page[] => {
  const admin = shellOf(texts, 'admin')
  const auditor = shellOf(texts, 'auditor')
  const cellar = cellarOf(texts)
  const apiKey = keyOf(texts, 'active')
  return [
    ...rotationPages(texts),
    ...rotationCardPages(texts, { shell: admin, cellar, apiKey, history: emptyHistory }),
    { name: 'first-reading', html: FirstReading({ keyId: '7Qp2abCd', reading: sampleReading(texts) }) },
    ...keyStatuses.map((status) => ({
      name: `key-${status}`,
      html: KeyPage({
        shell: admin,
        position: 2_375,
        cellar,
        apiKey: keyOf(texts, status),
        rotated: noRotation,
        history: historyView(texts, status === 'revoked'),
        stateAt: stateThen(texts, status),
        refusals: status === 'active' ? sampleRefusalRows(texts, nowMs) : [],
      }),
    })),
    {
      name: 'key-auditor',
      html: KeyPage({
        shell: auditor,
        position: 2_375,
        cellar,
        apiKey: unusedKeyOf(texts),
        rotated: noRotation,
        history: historyView(texts, false),
        stateAt: { typed: texts('typed'), answer: { kind: 'refused', rule: texts('fault') } },
        refusals: [],
      }),
    },
    {
      name: 'key-before-creation',
      html: KeyPage({
        shell: auditor,
        position: 2_375,
        cellar,
        apiKey,
        rotated: noRotation,
        history: emptyHistory,
        refusals: [],
        stateAt: {
          typed: '2020-01-01',
          answer: {
            kind: 'known',
            at: 0,
            key: null,
            decidedBy: eventThen(texts, 'KeyCreated'),
            previous: null,
            next: eventThen(texts, 'KeyCreated'),
          },
        },
      }),
    },
    ...confirmPages(texts),
    ...thenPages(texts),
  ]
}

/** The list that the page `log` shows. */
export const sampleLogPush = (texts: Texts) => ({ list: sampleLogList(texts, nowMs), nowMs })

/** The key list that the page `keys-active` shows. */
export const sampleKeyList = (texts: Texts) => ({
  cellar: texts('cellar'),
  list: keyListOf(texts, [keyOf(texts, 'active'), unusedKeyOf(texts)], {}),
})

const noRotation = { rotations: [], chain: null }

const rotationPages = (texts: Texts): readonly Page[] => {
  const [shell, cellar] = [shellOf(texts, 'admin'), cellarOf(texts)]
  const pending: SuccessorView = {
    keyId: '4fGh7kLm',
    label: texts('label'),
    awaitedId: '4fGh7kLm',
    overlapMs: day,
    usedAt: null,
    isOpen: true,
    newStatus: 'active',
  }
  const used = { ...pending, usedAt: nowMs - 3_600_000 }
  const old = keyOf(texts, 'active')
  const followed = { keyId: old.keyId, status: 'active', expiresAt: old.expiresAt } as const
  const awaited = { ...pending, awaitedId: unusedKeyOf(texts).keyId }
  const afterRotation: readonly (readonly [name: string, predecessor: PredecessorView])[] = [
    ['', { ...followed, expiresAt: nowMs + 30 * day, rotation: awaited }],
    ['-at-once', { ...followed, status: 'suspended', rotation: { ...awaited, overlapMs: 0 } }],
    ['-again', { ...followed, rotation: null }],
  ]
  const overlaps = [
    { typed: '0', ms: 0 },
    { typed: '24h', ms: day },
  ]
  const rotate = { shell, cellar, overlaps, keyId: '9mN3pQrS' }
  const keyPage = (apiKey: KeyView) =>
    KeyPage({
      shell,
      cellar,
      apiKey,
      rotated: noRotation,
      history: emptyHistory,
      stateAt: null,
      refusals: [],
      position: null,
    })
  return [
    { name: 'rotate-key', html: RotateKeyPage({ ...rotate, apiKey: old, form: form({ overlap: '24h' }) }) },
    {
      name: 'rotate-key-refused',
      html: RotateKeyPage({
        ...rotate,
        apiKey: { ...keyOf(texts, 'suspended'), successor: pending },
        form: form({ overlap: texts('typed') }, { overlap: texts('fault'), form: texts('fault') }),
      }),
    },
    {
      name: 'rotate-key-after-revoked',
      html: RotateKeyPage({
        ...rotate,
        apiKey: { ...old, successor: { ...pending, awaitedId: null } },
        form: form({ overlap: '24h' }),
      }),
    },
    {
      name: 'key-followed-broken-off',
      html: keyPage({ ...old, successor: { ...pending, label: null, awaitedId: null } }),
    },
    {
      name: 'key-follows-replaced',
      html: keyPage({ ...unusedKeyOf(texts), predecessor: { ...followed, rotation: null } }),
    },
    {
      name: 'keys-rotated',
      html: KeysPage({
        shell,
        cellar,
        typed: '',
        list: keyListOf(
          texts,
          [
            { ...old, successor: pending },
            { ...unusedKeyOf(texts), successor: { ...pending, overlapMs: 0 } },
            { ...old, successor: { ...pending, awaitedId: null } },
            { ...old, successor: used },
            { ...unusedKeyOf(texts), predecessor: { ...followed, rotation: pending } },
          ],
          {},
        ),
        baseUrl: texts('baseUrl'),
      }),
    },
    ...afterRotation.map(([name, predecessor]) => ({
      name: `key-created-rotated${name}`,
      html: KeyCreatedPage({
        shell,
        cellar,
        apiKey: { ...unusedKeyOf(texts), predecessor },
        secretText: sampleKey,
        replaced: name === '' ? { ...old, keyId: '9mN3pQrS' } : null,
        baseUrl: texts('baseUrl'),
      }),
    })),
  ]
}

const confirmPages = (texts: Texts): readonly Page[] => {
  const shell = shellOf(texts, 'admin')
  const cellar = cellarOf(texts)
  const actions: readonly KeyAction[] = ['suspend', 'resume', 'revoke']
  return [
    ...actions.map((action) => ({
      name: `confirm-${action}`,
      html: ConfirmPage({
        shell,
        cellar,
        apiKey: keyOf(texts, 'active'),
        rotations: [],
        action,
        isExpired: false,
        form: form({ reason: '' }),
      }),
    })),
    {
      name: 'confirm-unused',
      html: ConfirmPage({
        shell,
        cellar,
        apiKey: unusedKeyOf(texts),
        rotations: [],
        action: 'revoke',
        isExpired: false,
        form: form({ reason: texts('typed') }, { reason: texts('fault'), form: texts('fault') }),
      }),
    },
    {
      name: 'confirm-idle',
      html: ConfirmPage({
        shell,
        cellar,
        apiKey: { ...keyOf(texts, 'active'), lastUsedAt: nowMs - 9 * day },
        rotations: [],
        action: 'suspend',
        isExpired: false,
        form: form({ reason: '' }),
      }),
    },
    {
      name: 'confirm-resume-expired',
      html: ConfirmPage({
        shell,
        cellar,
        apiKey: { ...keyOf(texts, 'suspended'), expiresAt: nowMs - day },
        rotations: [],
        action: 'resume',
        isExpired: true,
        form: form({ reason: '' }),
      }),
    },
  ]
}

const accountPages = (texts: Texts): readonly Page[] => {
  const [email, madeBy] = [texts('email'), `${texts('email')}.example`]
  const place = { address: '2001:db8:85a3:8d3:1319:8a2e:370:7348', browser: texts('browser') }
  const session: SessionRow = {
    id: '0123456789abcdef',
    startedAt: nowMs - 3_600_000,
    lastUsedAt: nowMs - second,
    place,
    linkMadeBy: null,
    isThis: true,
  }
  const other: SessionRow = { ...session, id: 'fedcba9876543210', isThis: false, linkMadeBy: madeBy }
  const at = nowMs - day
  const history: readonly SignInHistoryRow[] = [
    { kind: 'signed_in', at, linkMadeBy: null, place },
    { kind: 'refused', at, from: at - 60_000, failed: 1_200, throttled: 7, addresses: ['203.0.113.5', place.address] },
    { kind: 'refused', at, from: at, failed: 1, throttled: 0, addresses: ['203.0.113.5'] },
    { kind: 'signed_out', at, by: { kind: 'operator', email } },
    { kind: 'signed_out', at, by: { kind: 'operator', email, session: { id: session.id, linkMadeBy: madeBy } } },
    { kind: 'signed_in', at, linkMadeBy: madeBy, place: 'purged' },
    { kind: 'password_set', at, hasLink: true, linkMadeBy: madeBy },
    { kind: 'link_made', at, madeBy, isInvitation: false },
    { kind: 'link_made', at, madeBy: 'cli', isInvitation: false },
    { kind: 'link_made', at, madeBy: email, isInvitation: false },
    { kind: 'signed_in', at, linkMadeBy: null, place: 'not_recorded' },
    { kind: 'link_made', at, madeBy, isInvitation: true },
    { kind: 'password_set', at, hasLink: false, linkMadeBy: null },
  ]
  const page = { email, passwordCharsMin: 12 }
  const values = { own_password: '', password: '' }
  return [
    {
      name: 'account',
      html: AccountPage({
        ...page,
        shell: shellOf(texts, 'admin'),
        sessions: [session, other, { ...other, id: '0', place: null, lastUsedAt: null, linkMadeBy: 'cli' }],
        history,
        form: form(values),
      }),
    },
    {
      name: 'account-refused',
      html: AccountPage({
        ...page,
        shell: shellOf(texts, 'auditor'),
        sessions: [session],
        history: null,
        form: form(values, {
          own_password: texts('fault'),
          password: texts('fault'),
          form: texts('fault'),
        }),
      }),
    },
  ]
}

const operatorPages = (texts: Texts): readonly Page[] => {
  const shell = shellOf(texts, 'admin')
  const operators = [
    {
      email: texts('email'),
      role: 'admin',
      addedAt: nowMs - 40 * day,
      lastSignedInAt: nowMs - 3_600_000,
      openSessions: 2,
      isYou: true,
      isLastAdmin: true,
    },
    {
      email: texts('email'),
      role: 'auditor',
      addedAt: nowMs - 2 * day,
      lastSignedInAt: nowMs - day,
      openSessions: 1,
      isYou: false,
      isLastAdmin: false,
    },
    {
      email: texts('email'),
      role: 'admin',
      addedAt: nowMs - 2 * day,
      lastSignedInAt: null,
      openSessions: 0,
      isYou: false,
      isLastAdmin: false,
    },
  ] as const
  const invitations = [{ email: texts('email'), role: 'admin', expiresAt: nowMs + day }] as const
  const blank = form({ email: '', role: 'auditor', own_password: '' })
  return [
    { name: 'operators', html: OperatorsPage({ shell, operators, invitations, form: blank }) },
    {
      name: 'operators-auditor',
      html: OperatorsPage({ shell: shellOf(texts, 'auditor'), operators, invitations, form: blank }),
    },
    {
      name: 'operators-refused',
      html: OperatorsPage({
        shell,
        operators,
        invitations,
        form: form(
          { email: texts('typed'), role: texts('typed'), own_password: '' },
          { email: texts('fault'), role: texts('fault'), own_password: texts('fault') },
        ),
      }),
    },
    ...(
      [
        ['raise', 'admin'],
        ['lower', 'auditor'],
        ['remove', 'remove'],
        ['withdraw', 'withdraw'],
        ['sign-out', 'end_sessions'],
      ] as const
    ).map(([name, change]) => ({
      name: `confirm-${name}-operator`,
      html: ConfirmAccessPage({
        shell,
        operator: { ...operators[1], isYou: change === 'auditor' },
        change,
        fault: change === 'remove' ? texts('fault') : undefined,
      }),
    })),
    {
      name: 'confirm-sign-out-yourself',
      html: ConfirmAccessPage({ shell, operator: operators[0], change: 'end_other_sessions', fault: undefined }),
    },
    {
      name: 'operator-link',
      html: OperatorLinkPage({ shell, email: texts('email'), url: texts('url'), expiresAt: nowMs + day }),
    },
    {
      name: 'document',
      html: DocumentPage({
        shell,
        title: 'Device guide',
        safeHtml: '<h1>For people who program a device</h1><p>…</p>',
      }),
    },
  ]
}

const exportRefused = (texts: Texts): Page => {
  const blank = { stream: '', type: '', kind: '', actor: '', readings: '' }
  const names = { rack: texts('rack'), keg: texts('keg'), key: texts('typed'), cellar: texts('cellar') }
  const typed = { since: texts('typed'), until: texts('typed') }
  return {
    name: 'export-refused',
    html: ExportPage({
      shell: shellOf(texts, 'auditor'),
      lists: ['readings'],
      filter: names,
      fields: ['since', 'until'],
      form: form({ ...blank, ...names, ...typed }, { since: texts('fault') }),
    }),
  }
}

const problems: readonly PageProblem[] = [
  'forbidden',
  'form_expired',
  'form_too_large',
  'no_cookie',
  'not_found',
  'form_too_slow',
  'too_many_forms',
  'busy',
  'export_running',
  'too_many_exports',
  'exported_too_often',
  'too_many_pages',
  'still_searching',
  'not_confirmed',
  'part_done',
  'store_unavailable',
  'storage_full',
  'internal_error',
]

const problemPages = (texts: Texts): readonly Page[] =>
  problems.map((problem) => ({
    name: `problem-${problem}`,
    html: ProblemPage({
      shell: shellOf(texts, 'admin'),
      problem,
      requestId: '0198c7a2-5f1e-7c3a-9d20-3b6f1f0e8a11',
      back: { href: texts('next'), words: texts('title') },
    }),
  }))
