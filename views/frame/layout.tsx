/**
 * Views are pure functions from plain data (`types.ts`) to HTML. Every page works without JavaScript: forms are plain POSTs
 * with `_csrf`. kitajs escapes the text of an element only with the attribute `safe`, so every element with dynamic text
 * has it. Typed text in an attribute goes through `attribute()`. A live message holds one HTML fragment, rendered by the
 * same function as in the page. The event `end` tells the page to stop: the session has ended, or the role has changed.
 */
import type { Children } from '@kitajs/html'
import { plainName } from '../../src/hidden-characters.ts'
import { Csrf } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { paths } from '../paths.ts'
import type { HealthReason, Shell } from '../types.ts'
import { LiveState } from './live-state.tsx'
import { Wordmark } from './logo.tsx'

export type Section = 'cellars' | 'keys' | 'log' | 'attention' | 'operators' | 'guide' | 'health' | 'account'

/** The Content-Security-Policy forbids the styles that htmx would add. htmx accepts only the extensions named here. */
const htmxConfig = JSON.stringify({ includeIndicatorCSS: false, extensions: 'sse', history: false })

export const Layout = (props: {
  readonly shell: Shell
  readonly title: string
  readonly section?: Section
  readonly narrow?: boolean
  /** Addresses of further scripts. */
  readonly scripts?: readonly string[]
  /** Without JavaScript, the browser loads the page again after this time. */
  readonly refreshSeconds?: number
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
          {props.refreshSeconds === undefined ? null : (
            <noscript>
              <meta http-equiv="refresh" content={String(props.refreshSeconds)} />
            </noscript>
          )}
          <link rel="icon" href={attribute(shell.assets.icon)} type="image/svg+xml" />
          <link rel="stylesheet" href={attribute(shell.assets.css)} />
          {/*
            Without `defer`, htmx starts only when the page and its extension `sse` are loaded. With `defer`, htmx would
            start before `sse` is loaded, and open no live stream.
          */}
          <script src={attribute(shell.assets.htmx)}></script>
          <script src={attribute(shell.assets.htmxSse)} defer></script>
          <script src={attribute(shell.assets.js)} defer></script>
          {(props.scripts ?? []).map((script) => (
            <script src={attribute(script)} defer></script>
          ))}
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
              <p class={shell.notice.isSuccess ? 'notice' : 'notice calm'} role="status" safe>
                {shell.notice.words}
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
            <NavLinks
              label="Main"
              links={[
                { words: 'Cellars', href: paths.cellars, isCurrent: props.section === 'cellars' },
                { words: 'Keys', href: paths.allKeys(), isCurrent: props.section === 'keys' },
                { words: 'Log', href: paths.log(), isCurrent: props.section === 'log' },
                {
                  words: 'Attention',
                  href: paths.attention,
                  isCurrent: props.section === 'attention',
                  ...(props.shell.attention > 0 && { count: props.shell.attention }),
                },
                { words: 'Operators', href: paths.operators, isCurrent: props.section === 'operators' },
                { words: 'Device guide', href: paths.devicesGuide, isCurrent: props.section === 'guide' },
                { words: 'Health', href: paths.health, isCurrent: props.section === 'health' },
              ]}
            />
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
