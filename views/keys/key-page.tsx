import { Breadcrumbs } from '../cellars/cellar-frame.tsx'
import { ExportForm } from '../exports/export-form.tsx'
import { Layout } from '../frame/layout.tsx'
import type { EventRow } from '../log/log-types.ts'
import { LastRefusals } from '../log/refusals-of-key.tsx'
import { ActionLink } from '../parts/action-link.tsx'
import { ByWhom } from '../parts/by.tsx'
import { Fact } from '../parts/fact.tsx'
import { Live } from '../parts/live.tsx'
import { UsageMeter } from '../parts/meter.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Pill } from '../parts/pill.tsx'
import { countText, limitText } from '../parts/quantity.ts'
import { Ago, AgoOrNever, Instant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { CellarView, HistoryView, KeyView, Shell, StateAt } from '../types.ts'
import { endsSoon } from './key-expiry.tsx'
import { KeyHistory } from './key-history.tsx'
import { StatusPill, statusMeaning } from './key-status.tsx'
import { StateAtInstant } from './key-then.tsx'
import { KeyChain } from './rotation/key-chain.tsx'
import { RotationCard } from './rotation/rotation-card.tsx'
import type { ChainView, RotationView } from './rotation/rotation-types.ts'
import { RotationFacts } from './rotation-state.tsx'

export const KeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly rotated: Rotated
  readonly history: HistoryView
  /** `null` without `?at=`. */
  readonly stateAt: StateAt | null
  readonly refusals: readonly EventRow[]
  /** The end of the log. `null`: the log is empty. */
  readonly position: number | null
}): JSX.Element => {
  const { apiKey, shell } = props
  return (
    <Layout shell={shell} title={`${apiKey.label} · ${props.cellar.title}`} section="cellars">
      <Breadcrumbs cellar={props.cellar} />
      <p class="report">
        API key <code safe>{`clr_${apiKey.keyId}_…`}</code> of the cellar <Name text={props.cellar.title} /> (
        <Name text={props.cellar.cellar} />
        ). Printed by <Name text={shell.operator?.email ?? ''} />. <AsOf atMs={shell.nowMs} position={props.position} />
      </p>
      <Live from={paths.liveKey(apiKey.keyId, props.history.page, props.history.isEverything)} target="#key-now">
        <KeyNow
          apiKey={apiKey}
          rotated={props.rotated}
          nowMs={shell.nowMs}
          isAdmin={shell.operator?.role === 'admin'}
        />
      </Live>
      <p class="elsewhere">
        In the log: <a href={attribute(paths.log({ key: apiKey.keyId }))}>everything of this key</a>,{' '}
        <a href={attribute(paths.log({ key: apiKey.keyId, kind: 'readings' }))}>its readings</a>.
      </p>
      <LastRefusals
        keyId={apiKey.keyId}
        rows={props.refusals}
        all={{ href: paths.log({ key: apiKey.keyId, kind: 'refusals' }), words: 'All refusals of this key' }}
      />
      <StateAtInstant keyId={apiKey.keyId} stateAt={props.stateAt} nowMs={shell.nowMs} />
      <KeyHistory keyId={apiKey.keyId} history={props.history} />
      <ExportForm
        shell={shell}
        lists={['history', 'readings']}
        filter={{ key: apiKey.keyId }}
        fields={['since', 'until']}
      />
    </Layout>
  )
}

/** Replaces three parts of the page. In the form between them, somebody may be typing. */
export const KeyPush = (props: {
  readonly apiKey: KeyView
  readonly rotated: Rotated
  readonly history: HistoryView
  readonly nowMs: number
  readonly position: number | null
  readonly isAdmin: boolean
}): JSX.Element => (
  <>
    <KeyNow apiKey={props.apiKey} rotated={props.rotated} nowMs={props.nowMs} isAdmin={props.isAdmin} />
    <tag of="hx-partial" hx-target="#history" hx-swap="outerMorph">
      <KeyHistory keyId={props.apiKey.keyId} history={props.history} />
    </tag>
    <tag of="hx-partial" hx-target="#as-of" hx-swap="outerMorph">
      <AsOf atMs={props.nowMs} position={props.position} />
    </tag>
  </>
)

export type Rotated = { readonly rotations: readonly RotationView[]; readonly chain: ChainView | null }

/** For a printed page. A paper must say what it can know. */
const AsOf = (props: { readonly atMs: number; readonly position: number | null }): JSX.Element => (
  <span id="as-of">
    As of <Instant at={props.atMs} />, log position <span safe>{countText(props.position ?? 0)}</span>.
  </span>
)

const KeyNow = (props: {
  readonly apiKey: KeyView
  readonly rotated: Rotated
  readonly nowMs: number
  readonly isAdmin: boolean
}): JSX.Element => {
  const { apiKey } = props
  const { rotations, chain } = props.rotated
  return (
    <div id="key-now">
      <div class="heading with-action">
        <div>
          <h1>
            <Name text={apiKey.label} />
          </h1>
          <p class="identifier">
            <code safe>{`clr_${apiKey.keyId}_…`}</code>
          </p>
        </div>
        {props.isAdmin && apiKey.status !== 'revoked' ? (
          <div class="page-actions">
            <a class="action" href={paths.editKey(apiKey.keyId)}>
              Edit
            </a>
            {apiKey.canRotate ? (
              <a class="action" href={paths.rotateKey(apiKey.keyId)}>
                Rotate
              </a>
            ) : null}
            <KeyActions apiKey={apiKey} />
          </div>
        ) : null}
      </div>
      {chain === null ? null : <KeyChain chain={chain} keyId={apiKey.keyId} />}
      <KeyFacts apiKey={apiKey} nowMs={props.nowMs} />
      {rotations.map((rotation) => (
        <RotationCard rotation={rotation} nowMs={props.nowMs} isAdmin={props.isAdmin} />
      ))}
    </div>
  )
}

const KeyFacts = ({ apiKey, nowMs }: FactsProps): JSX.Element => (
  <section id="key-facts" class="card" aria-label="Current state">
    <p class="state">
      <StatusPill status={apiKey.status} /> <span safe>{statusMeaning(apiKey, nowMs)}</span>
    </p>
    <StateCause attribution={apiKey.revoked ?? apiKey.suspended} />
    <dl class="facts">
      <UsageFacts apiKey={apiKey} nowMs={nowMs} />
      <LifetimeFacts apiKey={apiKey} nowMs={nowMs} />
      <RotationFacts apiKey={apiKey} />
      {apiKey.note === '' ? null : (
        <Fact term="Note" isWide>
          <Name class="note" text={apiKey.note} />
        </Fact>
      )}
    </dl>
  </section>
)

type FactsProps = { readonly apiKey: KeyView; readonly nowMs: number }

const StateCause = ({ attribution }: { readonly attribution: KeyView['revoked'] }): JSX.Element => {
  if (attribution === null) return ''
  return (
    <p class="state-cause">
      Since <Instant at={attribution.at} />, by <ByWhom by={attribution.by} />
      {attribution.reason === '' ? (
        '. No reason given.'
      ) : (
        <>
          :{' '}
          <q>
            <Name text={attribution.reason} />
          </q>
        </>
      )}
    </p>
  )
}

const UsageFacts = ({ apiKey, nowMs }: FactsProps): JSX.Element => {
  const isRevoked = apiKey.status === 'revoked'
  return (
    <>
      <Fact term="Last used">
        <AgoOrNever at={apiKey.lastUsedAt} nowMs={nowMs} />
      </Fact>
      <Fact term="Last checked">
        <AgoOrNever at={apiKey.lastCheckedAt} nowMs={nowMs} />
        {apiKey.lastCheckedAt === null ? <span class="under">since this service started</span> : null}
      </Fact>
      <Fact term="Readings accepted">
        <span safe>{countText(apiKey.accepted)}</span>
      </Fact>
      <Fact term={isRevoked ? 'Limit' : 'Usage'}>
        {isRevoked ? (
          <span safe>{limitText(apiKey.limit)}</span>
        ) : (
          <UsageMeter used={apiKey.used} limit={apiKey.limit} />
        )}
        {apiKey.ownLimit === null ? <span class="under">the cellar’s limit</span> : null}
      </Fact>
      <Fact term="Last refusal">
        <LastRefusal refusal={apiKey.lastRefusal} nowMs={nowMs} />
      </Fact>
    </>
  )
}

const LifetimeFacts = ({ apiKey, nowMs }: FactsProps): JSX.Element => (
  <>
    <Fact term="Expires">
      {apiKey.expiresAt === null ? (
        'Never'
      ) : (
        <>
          <Instant at={apiKey.expiresAt} /> {endsSoon(apiKey, nowMs) ? <Pill look="soon" word="ends soon" /> : null}
          {apiKey.status === 'revoked' ? null : (
            <span class="under">
              <Ago at={apiKey.expiresAt} nowMs={nowMs} />
            </span>
          )}
        </>
      )}
    </Fact>
    <Fact term="Created">
      <Instant at={apiKey.created.at} />
      <span class="under">
        by <ByWhom by={apiKey.created.by} />
      </span>
    </Fact>
  </>
)

const LastRefusal = (props: { readonly refusal: KeyView['lastRefusal']; readonly nowMs: number }): JSX.Element =>
  props.refusal === null ? (
    <span class="quiet">None</span>
  ) : (
    <span class="refusal">
      <code safe>{props.refusal.code}</code> <Ago at={props.refusal.at} nowMs={props.nowMs} />
      {props.refusal.isCost ? (
        <span class="under" safe>
          {costWords(props.refusal.cause)}
        </span>
      ) : null}
    </span>
  )

const costWords = (cause: string | null): string =>
  `too many requests that stored nothing${cause === null ? '' : `; last error: ${cause}`}`

const KeyActions = (props: { readonly apiKey: KeyView }): JSX.Element => {
  const { keyId, label, status } = props.apiKey
  return (
    <ul class="action-list">
      {status === 'suspended' ? (
        <ActionLink href={paths.resumeKey(keyId)} verb="Resume" of={label} />
      ) : (
        <ActionLink href={paths.suspendKey(keyId)} verb="Suspend" of={label} />
      )}
      <ActionLink href={paths.revokeKey(keyId)} verb="Revoke" of={label} isDangerous />
    </ul>
  )
}
