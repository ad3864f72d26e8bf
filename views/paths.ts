import type { KeyStatus } from '../src/domain/key.ts'

/**
 * Every address of the dashboard, in one place, so that a page's link and the route that answers it can't differ.
 *
 * A cellar may be called `..`, and a browser resolves `/cellars/../keys` (and `%2e%2e` alike) before it asks. So a name
 * that is only dots, or begins with the escape itself, gets a `~` in front; `cellarOfSegment` takes it away.
 */
export const cellarSegment = (cellar: string): string =>
  encodeURIComponent(/^(\.{1,2}$|~)/.test(cellar) ? `~${cellar}` : cellar)

/** The identifier that a path segment names, after percent-decoding. */
export const cellarOfSegment = (decoded: string): string => (decoded.startsWith('~') ? decoded.slice(1) : decoded)

/** What a list begins with needs no saying. */
const listQuery = (status: KeyStatus, page: number): string =>
  queryOf([...(status === 'active' ? [] : [`status=${status}`]), ...pageQuery(page)])

const readingsQuery = (find: string, page: number): string =>
  queryOf([...(find === '' ? [] : [`find=${encodeURIComponent(find)}`]), ...pageQuery(page)])

const pageQuery = (page: number): readonly string[] => (page === 1 ? [] : [`page=${page}`])

const queryOf = (wanted: readonly string[]): string => (wanted.length === 0 ? '' : `?${wanted.join('&')}`)

export const paths = {
  signIn: '/sign-in',
  signOut: '/sign-out',
  /** A one-time link: GET shows the form, POST spends it. */
  link: (secret: string) => `/link/${encodeURIComponent(secret)}`,
  cellars: '/cellars',
  cellarsPage: (page: number) => `/cellars${queryOf(pageQuery(page))}`,
  newCellar: '/cellars/new',
  cellar: (cellar: string, find = '', page = 1) =>
    `/cellars/${cellarSegment(cellar)}/readings${readingsQuery(find, page)}`,
  settings: (cellar: string) => `/cellars/${cellarSegment(cellar)}/settings`,
  rename: (cellar: string) => `/cellars/${cellarSegment(cellar)}/title`,
  policy: (cellar: string) => `/cellars/${cellarSegment(cellar)}/policy`,
  /** GET asks whether `days` is meant, POST does it. */
  retention: (cellar: string) => `/cellars/${cellarSegment(cellar)}/retention`,
  keys: (cellar: string, status: KeyStatus = 'active', page = 1) =>
    `/cellars/${cellarSegment(cellar)}/keys${listQuery(status, page)}`,
  newKey: (cellar: string) => `/cellars/${cellarSegment(cellar)}/keys/new`,
  key: (keyId: string, historyPage = 1) => `/keys/${encodeURIComponent(keyId)}${queryOf(pageQuery(historyPage))}`,
  editKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/edit`,
  rotateKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/rotate`,
  suspendKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/suspend`,
  resumeKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/resume`,
  revokeKey: (keyId: string) => `/keys/${encodeURIComponent(keyId)}/revoke`,
  account: '/account',
  accountPassword: '/account/password',
  /** Ends the session that the form names, or all but this one. */
  accountSessions: '/account/sessions',
  operators: '/operators',
  operatorLinks: '/operators/links',
  /** GET asks, POST does it: gives the role that is named, or takes access away. */
  operatorRole: (email: string) => `/operators/${encodeURIComponent(email)}/role`,
  removeOperator: (email: string) => `/operators/${encodeURIComponent(email)}/remove`,
  /** GET asks, POST ends every session of the operator. */
  operatorSessions: (email: string) => `/operators/${encodeURIComponent(email)}/sessions`,
  devicesGuide: '/docs/devices',
  liveCellars: (page = 1) => `/live/cellars${queryOf(pageQuery(page))}`,
  liveReadings: (cellar: string, find = '', page = 1) =>
    `/live/cellars/${cellarSegment(cellar)}/readings${readingsQuery(find, page)}`,
  liveKeys: (cellar: string, status: KeyStatus, page: number) =>
    `/live/cellars/${cellarSegment(cellar)}/keys${listQuery(status, page)}`,
  liveKey: (keyId: string, historyPage = 1) =>
    `/live/keys/${encodeURIComponent(keyId)}${queryOf(pageQuery(historyPage))}`,
  liveFirstReading: (keyId: string) => `/live/keys/${encodeURIComponent(keyId)}/first-reading`,
} as const
