import type { LineScope } from '../src/domain/attention/attention-lines.ts'
import type { AttentionQuery } from './attention/attention-types.ts'
import type { KegName, KegQuery } from './kegs/keg-types.ts'
import type { KeyQuery } from './keys/key-list-types.ts'
import type { LogQuery } from './log/log-types.ts'
import type { KegOrder } from './types.ts'

/**
 * Browsers resolve `.` and `..` in a path, even as `%2e%2e`. So a cellar, rack or keg with such a name gets a `~` in
 * front, and so does a name that begins with `~`.
 */
export const nameSegment = (cellar: string): string =>
  encodeURIComponent(/^(\.{1,2}$|~)/.test(cellar) ? `~${cellar}` : cellar)

export const nameOfSegment = (decoded: string): string => (decoded.startsWith('~') ? decoded.slice(1) : decoded)

const kegPath = (cellar: string, rack: string, keg: string): string =>
  `/cellars/${nameSegment(cellar)}/kegs/${nameSegment(rack)}/${nameSegment(keg)}`

/** Names of kegs that are compared. No encoded name has a space or a slash. */
const besideText = (kegs: readonly KegName[]): string =>
  kegs.map(({ rack, keg }) => `${encodeURIComponent(rack)}/${encodeURIComponent(keg)}`).join(' ')

/** What the address says of the query. */
export const kegFields = (query: Partial<KegQuery>): readonly (readonly [name: string, text: string])[] => {
  const { range = '24h', from = '', to = '', isOwnScale = false, isPaused = false, table = 0 } = query
  const isTyped = from !== '' || to !== ''
  const named = [
    ['range', isTyped || range === '24h' ? '' : range],
    ['from', from],
    ['to', to],
    ['with', besideText(query.with ?? [])],
    ['scale', isOwnScale ? 'own' : ''],
    ['live', isPaused ? 'off' : ''],
    ['find', query.find ?? ''],
    ['table', table === 0 ? '' : String(table)],
  ] as const
  return named.filter(([, text]) => text !== '')
}

const kegQuery = (query: Partial<KegQuery>, more: readonly string[] = []): string =>
  queryOf([...kegFields(query).map(([name, text]) => `${name}=${encodeURIComponent(text)}`), ...more])

const anyKeyFields = (query: Partial<KeyQuery>) => {
  const { status = 'active', sort = 'created', page = 1 } = query
  return [
    ['find', (query.words ?? []).join(' ')],
    ['status', status === 'active' ? '' : status],
    ['expires', query.expires ?? ''],
    ['unused', query.unused ?? ''],
    ['near', query.nearLimit ? 'limit' : ''],
    ['refused', query.refusedToday ? 'today' : ''],
    ['rotation', query.rotation ? 'on' : ''],
    ['sort', sort === 'created' ? '' : sort],
    ['order', query.isReversed ? 'reversed' : ''],
    ['page', page === 1 ? '' : String(page)],
    ['live', query.isPaused ? 'off' : ''],
  ] as const
}

/** What the address says of the query, except of a cellar in its path (`keyFilterOf`, `keyQueryOf`). */
export const keyFields = (query: Partial<KeyQuery>): readonly (readonly [name: string, text: string])[] =>
  anyKeyFields(query).filter(([, text]) => text !== '')

export const keyFieldNames = anyKeyFields({}).map(([name]) => name)

const keyQuery = (query: Partial<KeyQuery>): string =>
  queryOf(keyFields(query).map(([name, text]) => `${name}=${encodeURIComponent(text)}`))

type PausableOrder = KegOrder & { readonly isPaused: boolean }

const readingsQuery = (find: string, page: number, order: Partial<PausableOrder>): string => {
  const { sort = 'name', isReversed = false, silentFirst = false, isPaused = false } = order
  return queryOf([
    ...(find === '' ? [] : [`find=${encodeURIComponent(find)}`]),
    ...(sort === 'name' ? [] : [`sort=${sort}`]),
    ...(isReversed ? ['order=reversed'] : []),
    ...(silentFirst ? ['silent=first'] : []),
    ...pageQuery(page),
    ...(isPaused ? ['live=off'] : []),
  ])
}

/** `show=all` also shows internal events. */
const historyQuery = (page: number, isEverything: boolean): string =>
  queryOf([...(isEverything ? ['show=all'] : []), ...pageQuery(page)])

const pageQuery = (page: number): readonly string[] => (page === 1 ? [] : [`page=${page}`])

const queryOf = (wanted: readonly string[]): string => (wanted.length === 0 ? '' : `?${wanted.join('&')}`)

const findQuery = (find: string, page: number): string =>
  queryOf([...(find === '' ? [] : [`find=${encodeURIComponent(find)}`]), ...pageQuery(page)])

const logQuery = (query: Partial<LogQuery>): string => {
  const { kind = null, before = null, after = null, isPaused = false } = query
  const texts = (['type', 'actor', 'cellar', 'rack', 'key', 'from', 'to', 'at'] as const).map((name) => [
    name,
    query[name] ?? '',
  ])
  const named = [['kind', kind ?? ''], ...texts, ['before', String(before ?? '')], ['after', String(after ?? '')]]
  const wanted = [...named, ['live', isPaused ? 'off' : '']].filter(([, text]) => text !== '')
  return queryOf(wanted.map(([name, text = '']) => `${name}=${encodeURIComponent(text)}`))
}

type Fields = readonly (readonly [name: string, text: string])[]

const fieldsQuery = (fields: Fields): string =>
  queryOf(fields.filter(([, text]) => text !== '').map(([name, text]) => `${name}=${encodeURIComponent(text)}`))

const attentionQuery = ({ cellar, kind }: AttentionQuery): string =>
  fieldsQuery([
    ['cellar', cellar ?? ''],
    ['kind', kind ?? ''],
  ])

/** Tells a line from all others. A missing name is blank. */
export const attentionFields = ({ cellar, line }: { readonly cellar: string | null; readonly line: LineScope }) =>
  [
    ['cellar', cellar ?? ''],
    ['kind', line.kind],
    ['rack', line.rack ?? ''],
    ['keg', line.keg ?? ''],
    ['key', line.keyId ?? ''],
    ['node', line.node ?? ''],
  ] as const

export const paths = {
  signIn: '/sign-in',
  signOut: '/sign-out',
  /** GET shows the form, and POST uses up the link. */
  link: (secret: string) => `/link/${encodeURIComponent(secret)}`,
  cellars: '/cellars',
  /** Without words, `/cellars`. */
  cellarsPage: (page: number, find = '') => `/cellars${find === '' ? '' : '/find'}${findQuery(find, page)}`,
  findCellars: '/cellars/find',
  newCellar: '/cellars/new',
  cellar: (cellar: string, find = '', page = 1, order: Partial<PausableOrder> = {}) =>
    `/cellars/${nameSegment(cellar)}/readings${readingsQuery(find, page, order)}`,
  rack: (cellar: string, rack: string, query: Partial<KegQuery> = {}, page = 1) =>
    `/cellars/${nameSegment(cellar)}/racks/${nameSegment(rack)}${kegQuery(query, pageQuery(page))}`,
  keg: (cellar: string, rack: string, keg: string, query: Partial<KegQuery> = {}) =>
    `${kegPath(cellar, rack, keg)}${kegQuery(query)}`,
  settings: (cellar: string) => `/cellars/${nameSegment(cellar)}/settings`,
  /** Without `at`, an instant like `2026-03-01T10:14:07.042Z`, the page only asks for it. */
  cellarThen: (cellar: string, at = '', page = 1) =>
    `/cellars/${nameSegment(cellar)}/then${queryOf([...(at === '' ? [] : [`at=${encodeURIComponent(at)}`]), ...pageQuery(page)])}`,
  rename: (cellar: string) => `/cellars/${nameSegment(cellar)}/title`,
  policy: (cellar: string) => `/cellars/${nameSegment(cellar)}/policy`,
  /** GET shows the form, and POST saves it. With `rack`, both lead back to the page of the keg. */
  unit: (cellar: string, { rack = '', keg = '' }: { readonly rack?: string; readonly keg?: string } = {}) =>
    `/cellars/${nameSegment(cellar)}/unit${queryOf(
      Object.entries({ keg, rack }).flatMap(([name, text]) =>
        text === '' ? [] : [`${name}=${encodeURIComponent(text)}`],
      ),
    )}`,
  /** GET shows the form, and POST saves the rule of these kegs. Both lead back to the page of the keg or rack. */
  silence: (cellar: string, fields: Fields = []) => `/cellars/${nameSegment(cellar)}/silence${fieldsQuery(fields)}`,
  /** GET asks for confirmation, and POST changes the retention. */
  retention: (cellar: string) => `/cellars/${nameSegment(cellar)}/retention`,
  keys: (cellar: string, query: Partial<KeyQuery> = {}) => `/cellars/${nameSegment(cellar)}/keys${keyQuery(query)}`,
  /** Of all cellars. */
  allKeys: (query: Partial<KeyQuery> = {}) => `/keys${keyQuery(query)}`,
  /** GET asks what to change and for confirmation, POST changes several keys. */
  changeKeys: '/keys/change',
  /** GET shows how far it is, and POST hands out the new keys of a rotation. */
  keysChange: (id: string) => `/keys/changes/${encodeURIComponent(id)}`,
  liveKeysChange: (id: string) => `/live/keys/changes/${encodeURIComponent(id)}`,
  /** GET shows the form, POST creates the key. */
  newKey: (cellar: string) => `/cellars/${nameSegment(cellar)}/keys/new`,
  key: (keyId: string, historyPage = 1, isEverything = false) =>
    `/keys/${encodeURIComponent(keyId)}${historyQuery(historyPage, isEverything)}`,
  /** After the only page that shows the text of the key. */
  keyShown: (keyId: string) => `/keys/${encodeURIComponent(keyId)}?shown=once`,
  /** The browser scrolls to the rotation. */
  keyRotation: (keyId: string) => `/keys/${encodeURIComponent(keyId)}#rotation-${encodeURIComponent(keyId)}`,
  /** `at` is an instant like `2026-03-01T10:14:07.042Z`. */
  keyAt: (keyId: string, at: string) => `/keys/${encodeURIComponent(keyId)}?at=${encodeURIComponent(at)}#state-at`,
  editKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/edit`,
  rotateKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/rotate`,
  /** GET asks for confirmation, and POST lets the old key of a rotation expire now. */
  retireKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/retire`,
  /** GET asks how long, and POST gives the old key of a rotation a later expiry. */
  keepKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/keep`,
  suspendKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/suspend`,
  resumeKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/resume`,
  revokeKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/revoke`,
  /** With an instant, the browser scrolls to it. */
  log: (query: Partial<LogQuery> = {}) => `/log${logQuery(query)}${(query.at ?? '') === '' ? '' : '#at'}`,
  findInLog: '/log/find',
  /** The search goes on behind `after`. */
  found: (what: string, after: number | null = null) =>
    `/log/find?what=${encodeURIComponent(what)}${after === null ? '' : `&after=${after}`}`,
  /** Without a revision, the beginning of the addresses of its events. */
  event: (stream: string, revision: number | '') => `/log/${encodeURIComponent(stream)}/${revision}`,
  /** Why a request was refused. */
  refusedRequest: (requestId: string, after: number | null = null) =>
    `/log/requests/${encodeURIComponent(requestId)}${after === null ? '' : `?after=${after}`}`,
  account: '/account',
  accountPassword: '/account/password',
  /** POST ends one session, or all except the one that sends the form. */
  accountSessions: '/account/sessions',
  operators: '/operators',
  operatorLinks: '/operators/links',
  /** GET asks for confirmation, and POST changes the role. */
  operatorRole: (email: string) => `/operators/${encodeURIComponent(email)}/role`,
  removeOperator: (email: string) => `/operators/${encodeURIComponent(email)}/remove`,
  operatorSessions: (email: string) => `/operators/${encodeURIComponent(email)}/sessions`,
  exports: '/exports',
  attention: '/attention',
  /** Lines of one cellar or kind. */
  attentionOf: (query: AttentionQuery) => `/attention${attentionQuery(query)}`,
  liveAttention: (query: AttentionQuery = { cellar: null, kind: null }) => `/live/attention${attentionQuery(query)}`,
  /** When the line needed attention before. */
  attentionPast: (fields: Fields) => `/attention/past${fieldsQuery(fields)}`,
  /** GET asks until when, and POST puts the line to rest. */
  restAttention: (fields: Fields = []) => `/attention/rest${fieldsQuery(fields)}`,
  /** POST makes a webhook. */
  webhooks: '/attention/webhooks',
  /** POST changes it. `before`: only older deliveries. */
  webhook: (webhookId: string, before: number | null = null) =>
    `/attention/webhooks/${encodeURIComponent(webhookId)}${before === null ? '' : `?before=${before}`}`,
  /** POST shows the page with the secret, which no address may have. */
  webhookSecret: (webhookId: string) => `/attention/webhooks/${encodeURIComponent(webhookId)}/secret`,
  testWebhook: (webhookId: string) => `/attention/webhooks/${encodeURIComponent(webhookId)}/test`,
  /** GET asks for confirmation, and POST removes it. */
  removeWebhook: (webhookId: string) => `/attention/webhooks/${encodeURIComponent(webhookId)}/remove`,
  health: '/health',
  liveHealth: '/live/health',
  devicesGuide: '/docs/devices',
  /** The guide links to `programs/NAME`, so that its links also work in the repository. */
  deviceProgram: (name: string): string => `/docs/programs/${name}`,
  liveCellars: (page = 1, find = '') => `/live/cellars${findQuery(find, page)}`,
  liveReadings: (cellar: string, find = '', page = 1, order: Partial<KegOrder> = {}) =>
    `/live/cellars/${nameSegment(cellar)}/readings${readingsQuery(find, page, order)}`,
  liveKeg: (cellar: string, rack: string, keg: string, query: Partial<KegQuery> = {}) =>
    `/live${kegPath(cellar, rack, keg)}${kegQuery(query)}`,
  liveRack: (cellar: string, rack: string, query: Partial<KegQuery> = {}, page = 1) =>
    `/live/cellars/${nameSegment(cellar)}/racks/${nameSegment(rack)}${kegQuery(query, pageQuery(page))}`,
  liveKeys: (cellar: string, query: Partial<KeyQuery> = {}) =>
    `/live/cellars/${nameSegment(cellar)}/keys${keyQuery(query)}`,
  liveAllKeys: (query: Partial<KeyQuery> = {}) => `/live/keys${keyQuery(query)}`,
  liveKey: (keyId: string, historyPage = 1, isEverything = false) =>
    `/live/keys/${encodeURIComponent(keyId)}${historyQuery(historyPage, isEverything)}`,
  liveLog: (query: Partial<LogQuery> = {}) => `/live/log${logQuery(query)}`,
  liveFirstReading: (keyId: string) => `/live/keys/${encodeURIComponent(keyId)}/first-reading`,
} as const
