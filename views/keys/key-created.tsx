import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { ReadingSnippets } from '../cellars/reading-snippets.tsx'
import { shellKey } from '../cellars/snippets.ts'
import { Layout } from '../frame/layout.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { Name } from '../parts/name.tsx'
import { limitText } from '../parts/quantity.ts'
import { Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, KeyView, ReadingView, Shell } from '../types.ts'
import { AfterRotation } from './after-rotation.tsx'
import { KeyLink } from './rotation-state.tsx'

/** The only page that ever holds a key. Serve it as the answer to one request, and never store it. */
export const KeyCreatedPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  /** The whole key. */
  readonly secretText: string
  /** The unused key whose place it took: another admin may have made it while this form was open. */
  readonly replaced: Pick<KeyView, 'keyId' | 'label' | 'created'> | null
  readonly baseUrl: string
}): JSX.Element => {
  const { cellar, apiKey } = props
  return (
    <Layout
      shell={props.shell}
      title={`${apiKey.predecessor === null ? 'Key created' : 'Key rotated'} · ${cellar.title}`}
      section="cellars"
      narrow
    >
      <Breadcrumbs cellar={cellar} />
      <h1>
        {apiKey.predecessor === null ? (
          <>
            <Name text={apiKey.label} /> is ready
          </>
        ) : (
          <>
            New key for <Name text={apiKey.label} />
          </>
        )}
      </h1>
      <section class="card key-once" aria-labelledby="once-title">
        <h2 id="once-title">Copy the key now</h2>
        <p>
          It is shown <strong>this once</strong>. Only a hash of it is kept, so nobody can show it again; if it gets
          lost, {apiKey.predecessor === null ? 'create another' : 'rotate the old one again'} and revoke this one.
        </p>
        <Copyable id="new-key" label="Your key" text={props.secretText} what="key" secret />
        <dl class="facts">
          <div>
            <dt>Expires</dt>
            <dd>{apiKey.expiresAt === null ? 'never' : <Instant at={apiKey.expiresAt} />}</dd>
          </div>
          <div>
            <dt>Limit</dt>
            <dd safe>{limitText(apiKey.limit)}</dd>
          </div>
        </dl>
      </section>
      {apiKey.predecessor === null ? (
        <SendFirstReading {...props} />
      ) : (
        <AfterRotation apiKey={apiKey} predecessor={apiKey.predecessor} />
      )}
      {props.replaced === null ? '' : <Replaced {...props.replaced} />}
      <p>
        <a href={paths.key(apiKey.keyId)}>Done: go to this key’s page</a>
      </p>
    </Layout>
  )
}

const SendFirstReading = (props: {
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly secretText: string
  readonly baseUrl: string
}): JSX.Element => (
  <>
    <section class="card" aria-labelledby="send-title">
      <h2 id="send-title">Send the first reading</h2>
      <Copyable
        id="shell-key"
        label="In a shell, first put the key into a variable:"
        text={shellKey(props.secretText)}
        what="lines"
      />
      <ReadingSnippets
        snippet={{ baseUrl: props.baseUrl, cellar: props.cellar.cellar }}
        shellLabel="Then send a reading with it:"
      />
    </section>
    <FirstReading keyId={props.apiKey.keyId} reading={null} />
  </>
)

const Replaced = ({ keyId, label, created }: Pick<KeyView, 'keyId' | 'label' | 'created'>): JSX.Element => (
  <section class="card warn" aria-labelledby="replaced-title">
    <h2 id="replaced-title">The new key replaces another one</h2>
    <p>
      <KeyLink keyId={keyId} label={label} />, made <Instant at={created.at} /> by <ByWhom by={created.by} />, was to
      follow the old key, and has not been used. It goes on working, but its use no longer ends the old key: only that
      of the new one does. If nobody needs it, revoke it.
    </p>
  </section>
)

/** Waits for a key's first reading, and is replaced by it: what has come no longer subscribes. */
export const FirstReading = (props: { readonly keyId: string; readonly reading: ReadingView | null }): JSX.Element => {
  if (props.reading === null) {
    return (
      <section
        id="first-reading"
        class="first-reading waiting"
        role="status"
        hx-sse:connect={paths.liveFirstReading(props.keyId)}
        hx-sse:close="end"
        hx-swap="outerHTML"
      >
        <p>
          <span class="pulse" aria-hidden="true"></span>
          <b>Waiting for the first reading …</b>
        </p>
        <p class="quiet">
          <span class="only-live">It appears here when it comes.</span>
          <span class="only-static">
            It is on <a href={paths.key(props.keyId)}>the key’s page</a> once it has come.
          </span>
        </p>
      </section>
    )
  }
  const { reading } = props
  return (
    <section id="first-reading" class="first-reading come" role="status">
      <p>
        <b>It works: the first reading has come.</b>
      </p>
      <p>
        <Name text={reading.rack} /> / <Name text={reading.keg} /> = <b class="value">{reading.value}</b>, accepted{' '}
        <Instant at={reading.recordedAt} />
      </p>
      <p class="quiet">
        Receipt <code safe>{`${reading.stream}@${reading.revision}`}</code>.{' '}
        <a href={paths.cellar(reading.cellar)}>See the cellar’s readings</a>
      </p>
    </section>
  )
}
