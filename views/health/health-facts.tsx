import type { Children } from '@kitajs/html'
import { Name } from '../parts/name.tsx'
import { Pill, type PillLook } from '../parts/pill.tsx'
import { aboutText, bytesText, countOf, countText } from '../parts/quantity.ts'
import { Ago } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { LogCheckView } from '../types.ts'
import type { ClockTrouble, DiskView, HealthView, StoreView } from './health-types.ts'

/** On the page of what needs attention. */
export const HealthSummary = ({ health, nowMs }: HealthProps): JSX.Element => (
  <section class="card" aria-labelledby="health">
    <h2 id="health">Health of this node</h2>
    <dl class="facts-list wide-terms">
      <FirstRows health={health} nowMs={nowMs} />
      <Row term="Store">
        <Store store={health.store} />
      </Row>
    </dl>
    <p class="below-list">
      <a href={paths.health}>All of its health</a>
    </p>
  </section>
)

const FirstRows = ({ health, nowMs }: HealthProps): JSX.Element => (
  <>
    <Row term="Accepting readings">
      <Accepting health={health} />
    </Row>
    {health.disk === null ? null : (
      <Row term="Disk">
        <Disk disk={health.disk} />
      </Row>
    )}
    {health.check === null ? null : (
      <Row term="Event log">
        <Checked check={health.check} nowMs={nowMs} />
      </Row>
    )}
  </>
)

type HealthProps = { readonly health: HealthView; readonly nowMs: number }

/** What a live message replaces. */
export const HealthFacts = (props: HealthProps): JSX.Element => {
  const { health, nowMs } = props
  return (
    <div id="health" class="event-columns">
      <section class="card" aria-labelledby="readings-and-log">
        <h2 id="readings-and-log">Readings and log</h2>
        <dl class="facts-list wide-terms">
          <FirstRows health={health} nowMs={nowMs} />
          {health.store.kind === 'embedded' ? (
            <Row term="Last backup">
              <Backup backup={health.backup} nowMs={nowMs} />
            </Row>
          ) : null}
          <Row term="Store">
            <Store store={health.store} />
          </Row>
          <Row term="Read models">
            <Models models={health.models} />
          </Row>
        </dl>
      </section>
      <section class="card" aria-labelledby="this-node">
        <h2 id="this-node">This node</h2>
        <dl class="facts-list wide-terms">
          <Row term="Version">
            <span safe>{health.version}</span>
          </Row>
          <Row term="Started">
            <Ago at={health.startedAt} nowMs={nowMs} />
          </Row>
          <Row term="Memory">
            <span safe>{bytesText(health.memoryBytes)}</span>
          </Row>
          <Row term="Live pages">
            <span safe>{`${countText(health.livePages)} open`}</span>
          </Row>
          <Row term="Clock">
            <Clock troubles={health.clockTroubles} />
          </Row>
          <Row term="Certificate">
            {health.certificate === null ? (
              <span class="quiet">None: this node has no TLS of its own</span>
            ) : (
              <Certificate {...health.certificate} nowMs={nowMs} />
            )}
          </Row>
        </dl>
      </section>
    </div>
  )
}

const Row = (props: { readonly term: string; readonly children: Children }): JSX.Element => (
  <div>
    <dt safe>{props.term}</dt>
    <dd>{props.children}</dd>
  </div>
)

const Accepting = ({ health: { isReady, stored } }: { readonly health: HealthView }): JSX.Element => (
  <>
    <Pill look={isReady ? 'active' : 'revoked'} word={isReady ? 'yes' : 'not all'} />{' '}
    <span safe>{storedText(stored)}</span>
    {isReady ? null : <small class="under quiet">The top of this page says what is refused, and what to do</small>}
  </>
)

const storedText = ({ count, overMs, p99Ms }: HealthView['stored']): string => {
  const seconds = Math.round(overMs / 1_000)
  const lately = seconds >= 50 ? 'the last minute' : seconds < 2 ? 'the last second' : `the last ${seconds} seconds`
  const stored = count === 0 ? `none in ${lately}` : `${countText(count)} in ${lately}`
  return p99Ms === null ? stored : `${stored}, 99 of 100 answered within ${latencyText(p99Ms)}`
}

const latencyText = (ms: number): string =>
  ms < 1_000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`

const Disk = ({ disk: { freeBytes, reserveBytes, fullInMs } }: { readonly disk: DiskView }): JSX.Element => (
  <>
    {freeBytes < reserveBytes ? (
      <>
        <Pill look="revoked" word="almost full" />{' '}
      </>
    ) : fullInMs !== null && fullInMs < fullSoonMs ? (
      <>
        <Pill look="soon" word="fills soon" />{' '}
      </>
    ) : null}
    <span safe>{`${bytesText(freeBytes)} free${freeBytes < reserveBytes ? '' : `, ${fullText(fullInMs)}`}`}</span>
    <small class="under quiet" safe>{`With less than ${bytesText(reserveBytes)}, readings are refused`}</small>
  </>
)

/** As the alert CellarbookDiskFillsSoon. */
const fullSoonMs = 7 * 86_400_000

const fullText = (fullInMs: number | null): string => {
  if (fullInMs === null) return 'too early to say when it is full'
  const about = aboutText(fullInMs)
  return about === null ? 'not filling up' : `full in about ${about} at this rate`
}

const checkLooks: Readonly<Record<Exclude<LogCheckView['kind'], 'waiting'>, readonly [PillLook, string]>> = {
  sound: ['active', 'sound'],
  damaged: ['revoked', 'damaged'],
  failed: ['suspended', 'not checked'],
}

const Checked = ({ check, nowMs }: { readonly check: LogCheckView; readonly nowMs: number }): JSX.Element => {
  if (check.kind === 'waiting') return <span>The first check since the start is under way, or begins soon</span>
  const [look, word] = checkLooks[check.kind]
  return (
    <>
      <Pill look={look} word={word} /> checked <Ago at={check.at} nowMs={nowMs} />
      <CheckDetail check={check} />
    </>
  )
}

const CheckDetail = ({ check }: { readonly check: Exclude<LogCheckView, { kind: 'waiting' }> }): JSX.Element => {
  switch (check.kind) {
    case 'sound':
      return <span safe>{`: ${countOf(check.events, 'event', 'events')}`}</span>
    case 'damaged':
      return (
        <span class="under">
          <span safe>{`${check.found}. First: `}</span>
          <Name text={check.first} />. Check the disk, and restore a backup into an empty data folder.
        </span>
      )
    case 'failed':
      return (
        <span class="under">
          <Name text={check.why} />. The next check is in a day.
        </span>
      )
  }
}

const Backup = ({ backup, nowMs }: Pick<HealthView, 'backup'> & { readonly nowMs: number }): JSX.Element =>
  backup === null ? (
    <span class="quiet">
      None. <code>cellarbook backup</code> makes one
    </span>
  ) : (
    <>
      <Ago at={backup.endedAt} nowMs={nowMs} />
      <span safe>{`: ${bytesText(backup.bytes)}`}</span>
    </>
  )

const Store = ({ store }: { readonly store: StoreView }): JSX.Element => {
  if (store.kind === 'embedded') {
    const { logBytes, walBytes } = store
    if (logBytes === null || walBytes === null) return <span>Embedded log</span>
    const wal = `${bytesText(walBytes)} in its write-ahead log`
    return <span safe>{`Embedded log, ${bytesText(logBytes)}, and ${wal}`}</span>
  }
  const { leader, connections } = store
  return (
    <>
      <Pill look={leader === null ? 'revoked' : 'active'} word={leader === null ? 'away' : 'connected'} />{' '}
      {leader === null ? 'EventStoreDB' : <Name text={`EventStoreDB, leader ${leader}`} />}
      <small class="under quiet" safe>{`${countOf(connections, 'connection', 'connections')} since the start`}</small>
    </>
  )
}

const Models = ({ models }: Pick<HealthView, 'models'>): JSX.Element => {
  const behind = models.filter(({ isReady }) => !isReady)
  if (behind.length === 0) return <span>All follow the log</span>
  const names = behind.map(({ name }) => `${name}.db`).join(', ')
  return (
    <>
      <Pill look="soon" word="behind" />{' '}
      <span
        safe
      >{`${names}. Pages can lack new events until ${behind.length === 1 ? 'it follows' : 'they follow'} the log`}</span>
    </>
  )
}

const clockWords: Readonly<Record<ClockTrouble, string>> = {
  ahead: 'events from the future arrive: a clock is wrong',
  late: 'events arrive late',
  leapt: 'the clock of this node has jumped ahead',
  doubted: 'the clock of this node is far ahead, so nothing is purged',
}

const Clock = ({ troubles }: { readonly troubles: readonly ClockTrouble[] }): JSX.Element =>
  troubles.length === 0 ? (
    <span>Agrees with the log</span>
  ) : (
    <>
      <Pill look="soon" word="in doubt" /> <span safe>{troubles.map((kind) => clockWords[kind]).join('; ')}</span>
    </>
  )

type CertificateProps = NonNullable<HealthView['certificate']> & { readonly nowMs: number }

const Certificate = (props: CertificateProps): JSX.Element => {
  const leftMs = props.endsAtMs - props.nowMs
  return (
    <>
      {props.nowMs < props.warnsAtMs ? null : (
        <>
          <Pill look={leftMs <= 0 ? 'revoked' : 'soon'} word={leftMs <= 0 ? 'over' : 'ends soon'} />{' '}
        </>
      )}
      {leftMs <= 0 ? 'Ended' : 'Ends'} <Ago at={props.endsAtMs} nowMs={props.nowMs} />
    </>
  )
}
