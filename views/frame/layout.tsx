/**
 * The dashboard's pages. Here live pure functions from plain data (`types.ts`) to HTML: no clock, no I/O, nothing of the
 * program's own but its types. A page and the fragment that a live update swaps in are the same function. Every page
 * works without JavaScript: forms are plain POSTs that carry `_csrf`, and what a script adds is optional.
 *
 * Escaping: kitajs escapes no child, so every dynamic text is `safe`; of an attribute it escapes quotes but not `&`, so
 * text that a person typed goes through `attribute()` there.
 *
 * | page (file)                     | served at (`paths.ts`)      | its forms post to: fields (besides `_csrf`)               |
 * | ------------------------------- | --------------------------- | --------------------------------------------------------- |
 * | LinkPage (link-page.tsx)             | link(secret)                | same: email, password, password_again                     |
 * | LinkSpentPage                   | link(secret)                |                                                           |
 * | SignInPage (sign-in-page.tsx)        | signIn                      | same: email, password, next                               |
 * | InsecurePage (insecure.tsx)     | signIn, link(secret)        |                                                           |
 * | ProblemPage (problem-page.tsx)       | any                         |                                                           |
 * | CellarsPage (cellars-page.tsx)       | cellars, cellarsPage(page)  |                                                           |
 * | NewCellarPage (new-cellar.tsx)  | newCellar                   | cellars: cellar, title                                    |
 * | ReadingsPage (readings-page.tsx)     | cellar(id, find, page)      | same (GET): find                                          |
 * | KeysPage (keys-page.tsx)             | keys(id, status)            |                                                           |
 * | NewKeyPage (key-form.tsx)       | newKey(id)                  | keys(id): label, note, expires, expires_on,               |
 * |                                 |                             | limit_readings, limit_seconds, _key_id                    |
 * | RotateKeyPage (key-rotate.tsx)  | rotateKey(keyId)            | same: overlap, _key_id                                    |
 * | KeyCreatedPage (key-created.tsx)| answer to the posts above   |                                                           |
 * | KeyPage (key-page.tsx)               | key(keyId, page), `?at=`    | same (GET): at                                            |
 * | EditKeyPage (key-form.tsx)      | editKey(keyId)              | same: as NewKeyPage without _key_id; expires may be `keep`  |
 * | ConfirmPage (key-confirm.tsx)   | suspendKey, resumeKey, revokeKey | same: reason                                         |
 * | SettingsPage (settings-page.tsx)     | settings(id)                | rename(id): title; policy(id): limit_readings,            |
 * |                                 |                             | limit_seconds, age_max, ahead_max (as `30d`; blank: none);|
 * |                                 |                             | retention(id) (GET): days                                 |
 * | ConfirmRetentionPage            | retention(id), `?days=`     | same: days                                                |
 * | (retention-form.tsx)                 |                             |                                                           |
 * | AccountPage (account-page.tsx)       | account                     | accountPassword: own_password, password,                  |
 * |                                 |                             | password_again; accountSessions: session                  |
 * | OperatorsPage (operators-page.tsx)   | operators                   | operatorLinks: email, role, own_password                  |
 * | OperatorLinkPage                | answer to the post above    |                                                           |
 * | ConfirmAccessPage               | operatorRole(email),        | same: role; none to remove or to end sessions             |
 * | (operator-confirm.tsx)          | removeOperator(email),      |                                                           |
 * |                                 | operatorSessions(email)     |                                                           |
 * | DocumentPage (document.tsx)     | devicesGuide                |                                                           |
 *
 * Every signed-in page has the form that posts to `signOut`.
 *
 * Live (server-sent events; a message without an event name is one fragment, swapped as the element says; a message
 * with the name `end` tells the page to stop asking, since the session has ended or its operator got another role):
 *
 * | address (`paths.ts`)            | fragment                                                  |
 * | ------------------------------- | --------------------------------------------------------- |
 * | liveCellars(page)               | CellarList (cellars-page.tsx)                                  |
 * | liveReadings(id, find, page)    | CellarReadings (readings-page.tsx)                             |
 * | liveKeys(id, status, page)      | KeyList (keys-page.tsx)                                        |
 * | liveKey(keyId, page)            | KeyPush (key-page.tsx)                                         |
 * | liveFirstReading(keyId)         | FirstReading (key-created.tsx), once it has come; it ends |
 * |                                 | its own subscription by replacing the element             |
 */
import type { Children } from '@kitajs/html'
import { plainName } from '../../src/hidden-characters.ts'
import { Csrf } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { HealthReason, Shell } from '../types.ts'
import { LiveState } from './live-state.tsx'
import { Wordmark } from './logo.tsx'

export type Section = 'cellars' | 'operators' | 'guide' | 'account'

/**
 * htmx under our policy: nothing here needs text compiled to code (no `js:` values, no filters), nor a style sheet of
 * htmx's own, and only the extension that we serve may register.
 */
const htmxConfig = JSON.stringify({ includeIndicatorCSS: false, extensions: 'sse', history: false })

export const Layout = (props: {
  readonly shell: Shell
  readonly title: string
  readonly section?: Section
  /** Narrow pages hold one form. */
  readonly narrow?: boolean
  readonly children: Children
}): JSX.Element => {
  const { shell } = props
  return (
    <>
      {'<!doctype html>'}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <title safe>{plainName(`${props.title} · Cellarbook`)}</title>
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <meta name="htmx-config" content={htmxConfig} />
          <meta name="server-time-ms" content={String(shell.nowMs)} />
          <link rel="icon" href={attribute(shell.assets.icon)} type="image/svg+xml" />
          <link rel="stylesheet" href={attribute(shell.assets.css)} />
          {/* Not deferred: a deferred htmx begins at once, and finds no stream to open if its extension comes later. */}
          <script src={attribute(shell.assets.htmx)}></script>
          <script src={attribute(shell.assets.htmxSse)} defer></script>
          <script src={attribute(shell.assets.js)} defer></script>
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to content
          </a>
          {shell.insecureHttp ? <InsecureWarning /> : null}
          {shell.reasons.length === 0 ? null : <HealthWarning reasons={shell.reasons} />}
          <Masthead shell={shell} section={props.section} />
          <main id="main" class={props.narrow ? 'narrow' : 'wide'} tabindex="-1">
            {shell.notice === null ? null : (
              <p class="notice" role="status" safe>
                {shell.notice}
              </p>
            )}
            {props.children}
            {shell.operator === null ? null : <LiveState />}
          </main>
        </body>
      </html>
    </>
  )
}

const Masthead = (props: { readonly shell: Shell; readonly section: Section | undefined }): JSX.Element => {
  const { operator, csrf } = props.shell
  return (
    <header class="masthead">
      <div class="masthead-row">
        <a class="home" href={paths.cellars}>
          <Wordmark />
        </a>
        {operator === null ? null : (
          <>
            <nav aria-label="Main">
              <ul>
                <li>
                  <NavLink href={paths.cellars} current={props.section === 'cellars'} words="Cellars" />
                </li>
                <li>
                  <NavLink href={paths.operators} current={props.section === 'operators'} words="Operators" />
                </li>
                <li>
                  <NavLink href={paths.devicesGuide} current={props.section === 'guide'} words="Device guide" />
                </li>
              </ul>
            </nav>
            <div class="who">
              <span class="who-name">
                <a
                  href={paths.account}
                  aria-current={props.section === 'account' ? 'page' : undefined}
                  title={attribute(plainName(operator.email))}
                >
                  <span class="visually-hidden">Your account: </span>
                  <Name text={operator.email} />
                </a>
                {operator.role === 'auditor' ? <span class="role">auditor</span> : null}
              </span>
              <form method="post" action={paths.signOut}>
                <Csrf token={csrf} />
                <button type="submit" class="plain">
                  Sign out
                </button>
              </form>
            </div>
          </>
        )}
      </div>
    </header>
  )
}

const NavLink = (props: { readonly href: string; readonly current: boolean; readonly words: string }): JSX.Element => (
  <a href={props.href} aria-current={props.current ? 'page' : undefined} safe>
    {props.words}
  </a>
)

const InsecureWarning = (): JSX.Element => (
  <aside class="standing-warning" aria-label="Warning">
    <p>
      <strong>This page was sent over plain http.</strong> Anyone on the network can read your password, your session
      and every new key. Set <code>TLS_CERT</code> and <code>TLS_KEY</code>, or use an https proxy and set{' '}
      <code>PUBLIC_URL</code>. Then remove <code>ALLOW_INSECURE_HTTP</code>.
    </p>
  </aside>
)

const HealthWarning = (props: { readonly reasons: readonly HealthReason[] }): JSX.Element => (
  <aside class="standing-warning" aria-label="Service health">
    {props.reasons.map(({ what, meanwhile, remedy, why }) => (
      <p>
        <strong safe>{what}</strong> <span safe>{`${meanwhile} ${remedy}`}</span>{' '}
        <small>
          <Name text={`Cause: ${why}.`} />
        </small>
      </p>
    ))}
  </aside>
)
