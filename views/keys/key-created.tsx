import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { ReadingSnippets } from '../cellars/reading-snippets.tsx'
import { shellKey, shellReading } from '../cellars/snippets.ts'
import { Layout } from '../frame/layout.tsx'
import { ReceiptLink } from '../log/receipt-link.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { limitText } from '../parts/quantity.ts'
import { Instant } from '../parts/time.tsx'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { CellarView, KeyView, ReadingView, Shell } from '../types.ts'
import { AfterRotation } from './after-rotation.tsx'
import { KeyId, KeyLink } from './rotation-state.tsx'

/** The only page that shows the whole text of a key. The text is stored nowhere, so do not store this page either. */
export const KeyCreatedPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly secretText: string
  /** The unused key that this rotation replaces. Another admin can have created it after this admin opened the form. */
  readonly replaced: Pick<KeyView, 'keyId' | 'label' | 'created'> | null
  readonly baseUrl: string
}): JSX.Element => {
  const { cellar, apiKey } = props
  const snippet = { baseUrl: props.baseUrl, cellar: cellar.cellar }
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
      <section class="card key-once" aria-labelledby="once-title" data-address={paths.keyShown(apiKey.keyId)}>
        <h2 id="once-title">Copy the key now: it is shown only once</h2>
        <p>
          If you lose it, {apiKey.predecessor === null ? 'create another key' : 'rotate the old key again'} and revoke
          this one.
        </p>
        <Copyable id="new-key" label="API key" text={props.secretText} what="key" secret />
        {apiKey.predecessor === null ? (
          <Copyable
            id="first-command"
            label="To try it, paste this into a terminal:"
            text={`${shellKey(props.secretText)}\n${shellReading(snippet)}`}
            what="command"
          />
        ) : null}
      </section>
      {apiKey.predecessor === null ? (
        <>
          <FirstReading keyId={apiKey.keyId} reading={null} />
          <section class="card" aria-labelledby="send-title">
            <h2 id="send-title">Other ways to send</h2>
            <ReadingSnippets snippet={snippet} checkLabel="A check, which stores nothing:" isCheckOnly />
          </section>
        </>
      ) : (
        <AfterRotation apiKey={apiKey} predecessor={apiKey.predecessor} />
      )}
      {props.replaced === null ? '' : <Replaced {...props.replaced} />}
      <p>
        Expires: {apiKey.expiresAt === null ? 'never' : <Instant at={apiKey.expiresAt} />}. Limit:{' '}
        <span safe>{limitText(apiKey.limit)}</span>. <a href={paths.key(apiKey.keyId)}>Go to the page of this key</a>
      </p>
    </Layout>
  )
}

const Replaced = ({ keyId, label, created }: Pick<KeyView, 'keyId' | 'label' | 'created'>): JSX.Element => (
  <section class="card warn" aria-labelledby="replaced-title">
    <h2 id="replaced-title">An earlier new key is still unused</h2>
    <p>
      An earlier rotation of the old key created <KeyLink keyId={keyId} label={label} /> (<Instant at={created.at} />,
      by <ByWhom by={created.by} />
      ). <KeyId keyId={keyId} /> has not been used. It still works, but using it no longer stops the old key. If nobody
      needs <KeyId keyId={keyId} />, revoke it.
    </p>
  </section>
)

/** A live update replaces this element when the reading arrives. */
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
          <b>Waiting for the first reading&nbsp;…</b>
        </p>
        <p class="quiet">
          <span class="only-live">The reading will appear here. A check will not.</span>
          <span class="only-static">
            When the reading arrives, you see it on <a href={paths.key(props.keyId)}>the page of this key</a>.
          </span>
        </p>
      </section>
    )
  }
  const { reading } = props
  return (
    <section id="first-reading" class="first-reading come" role="status">
      <p>
        <b>It works: the first reading has arrived.</b>
      </p>
      <p>
        <a href={attribute(paths.keg(reading.cellar, reading.rack, reading.keg))}>
          <Name text={reading.rack} /> / <Name text={reading.keg} />
        </a>{' '}
        ={' '}
        <b class="value">
          <Value value={reading.value} unit={reading.unit} />
        </b>
        , accepted <Instant at={reading.recordedAt} />
      </p>
      <p class="quiet">
        Receipt <ReceiptLink event={reading} />.{' '}
        <a href={paths.cellar(reading.cellar)}>See the readings of this cellar</a>
      </p>
    </section>
  )
}
