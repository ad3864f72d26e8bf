import type { Children } from '@kitajs/html'
import { visibleLines } from '../../src/hidden-characters.ts'
import { Layout } from '../frame/layout.tsx'
import { Fact } from '../parts/fact.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { countText } from '../parts/quantity.ts'
import { type Column, Table } from '../parts/table.tsx'
import { Ago, ExactInstant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { ChangeList } from './change-list.tsx'
import { EventFrame } from './event-frame.tsx'
import { EventSentence } from './event-sentence.tsx'
import { kindWords } from './kind-mark.tsx'
import { ByLink } from './list/log-table.tsx'
import type { EventPageView, Neighbours, SampleView } from './log-types.ts'
import { StatusWords } from './status-words.tsx'

export const EventPage = (props: { readonly shell: Shell; readonly event: EventPageView }): JSX.Element => {
  const { shell, event } = props
  return (
    <Layout shell={shell} title={`${event.type} · ${event.stream}@${event.revision}`} section="log">
      <EventTurns event={event} />
      <EventFrame
        kind={event.kind}
        words={
          <>
            <span safe>{kindWords[event.kind]}</span> <code safe>{event.type}</code>
          </>
        }
        sentence={event.sentence}
        facts={<EventFacts event={event} nowMs={shell.nowMs} />}
        beside={<InLog event={event} />}
      />
      <Samples samples={event.samples} />
      <SameRequest event={event} />
      <section class="card" aria-labelledby="stored-title">
        <h2 id="stored-title">As it is stored</h2>
        <div class="copyable">
          <span class="quiet">Hashes of secrets are left out.</span>
          <pre tabindex="0">
            <code id="event-json" safe>
              {visibleLines(event.json)}
            </code>
          </pre>
          <CopyButton of="#event-json" words="Copy JSON" />
        </div>
      </section>
    </Layout>
  )
}

/** Hidden until `assets/app.js` shows it, because copying needs JavaScript. */
const CopyButton = (props: { readonly of: string; readonly words: string }): JSX.Element => (
  <span class="copy-place">
    <button type="button" class="copy" data-copy={props.of} data-copied="Copied" hidden safe>
      {props.words}
    </button>
    <span class="visually-hidden" role="status"></span>
  </span>
)

const EventTurns = (props: { readonly event: EventPageView }): JSX.Element => {
  const { inLog, inStream, stream } = props.event
  return (
    <nav class="event-turns" aria-label="Other events">
      <a href={paths.log()}>Log</a>
      <Turns of={inLog} words={{ before: '← Before in log', after: 'After in log →' }} />
      <span class="quiet">
        {inStream.before === null && inStream.after === null ? 'The only event in' : 'In'} <code safe>{stream}</code>
      </span>
      <Turns of={inStream} words={{ before: '← Before in stream', after: 'After in stream →' }} />
    </nav>
  )
}

const Turns = (props: {
  readonly of: Neighbours
  readonly words: { readonly before: string; readonly after: string }
}): JSX.Element => {
  const { of, words } = props
  return (
    <span class="turns">
      {of.before === null ? null : (
        <a class="action" href={attribute(of.before)} safe>
          {words.before}
        </a>
      )}
      {of.after === null ? null : (
        <a class="action" href={attribute(of.after)} safe>
          {words.after}
        </a>
      )}
    </span>
  )
}

const EventFacts = (props: { readonly event: EventPageView; readonly nowMs: number }): JSX.Element => {
  const { event, nowMs } = props
  const { after, session } = event
  return (
    <>
      <Fact term="When">
        <ExactInstant at={event.at} />{' '}
        <span class="quiet unbroken">
          (<Ago at={event.at} nowMs={nowMs} />)
        </span>
      </Fact>
      {event.inForceAt === null ? null : (
        <Fact term="In force">
          on every node from <ExactInstant at={event.inForceAt} />
        </Fact>
      )}
      <Fact term="By">
        <ByLink by={event.by} />
      </Fact>
      {session === null ? null : (
        <Fact term="Session">
          <SessionWords session={session} />
        </Fact>
      )}
      {event.changes.length === 0 ? null : (
        <Fact term={isChange(event.kind) ? 'What changed' : 'Details'}>
          <ChangeList changes={event.changes} />
        </Fact>
      )}
      {after === null ? null : (
        <Fact term={after.of === 'key' ? 'The key then' : 'The account then'}>
          {after.of === 'key' ? <StatusWords state={after.state} /> : <Name text={after.words} />}
        </Fact>
      )}
    </>
  )
}

const isChange = (kind: EventPageView['kind']): boolean => kind === 'keys' || kind === 'cellars' || kind === 'operators'

const SessionWords = (props: { readonly session: NonNullable<EventPageView['session']> }): JSX.Element => {
  const { id, from } = props.session
  if (from === null)
    return (
      <span>
        <code safe>{id}</code>{' '}
        <span class="quiet">Its address and browser were not found. They are deleted after some time.</span>
      </span>
    )
  return (
    <span>
      from <Name text={from.address} />, <Name text={from.browser} />, signed in at <ExactInstant at={from.at} />
    </span>
  )
}

const InLog = (props: { readonly event: EventPageView }): JSX.Element => {
  const { event } = props
  const receipt = `${event.stream}@${event.revision}`
  return (
    <section class="card" aria-labelledby="in-log-title">
      <h2 id="in-log-title">In the log</h2>
      <dl class="facts-list">
        <Fact term="Place">
          <code id="event-place" safe>
            {receipt}
          </code>{' '}
          <CopyButton of="#event-place" words="Copy" />
        </Fact>
        <Fact term="Position">
          <span safe>{countText(event.position)}</span>
        </Fact>
        {event.keg === null ? null : (
          <Fact term="Keg">
            <a href={attribute(paths.keg(event.keg.cellar, event.keg.rack, event.keg.keg))}>
              <Name text={event.keg.rack} /> / <Name text={event.keg.keg} />
            </a>
          </Fact>
        )}
        <Fact term="Request">
          <a href={attribute(paths.found(event.requestId))}>
            <code safe>{event.requestId}</code>
          </a>
        </Fact>
        {event.about === null ? null : (
          <Fact term={event.about.words}>
            <a href={attribute(event.about.href)}>
              <Name text={event.about.name} />
            </a>
          </Fact>
        )}
        <Fact term="Around it">
          <a href={attribute(paths.log({ before: event.position + 1 }))}>The log at this place</a>
        </Fact>
      </dl>
    </section>
  )
}

const SameRequest = (props: { readonly event: EventPageView }): JSX.Element => {
  const { events, count, isComplete, listHref } = props.event.sameRequest
  if (count === 0) return ''
  return (
    <section class="card" aria-labelledby="same-title">
      <h2 id="same-title">
        The same request{' '}
        <small
          safe
        >{`${isComplete ? '' : 'at least '}${countText(count)} ${count === 1 ? 'other event' : 'other events'}`}</small>
      </h2>
      <EventLinks>
        {events.map(({ words, place, href }) => (
          <li>
            <EventSentence sentence={words} />{' '}
            <a href={attribute(href)}>
              <code safe>{place}</code>
            </a>
          </li>
        ))}
      </EventLinks>
      {count > events.length ? (
        <p class="quiet">
          <span safe>{`And ${countText(count - events.length)} more.`}</span>{' '}
          {listHref === null ? null : <a href={attribute(listHref)}>See them in the Log</a>}
        </p>
      ) : null}
    </section>
  )
}

const EventLinks = (props: { readonly children: Children }): JSX.Element => (
  <ul class="event-links">{props.children}</ul>
)

const Samples = (props: { readonly samples: EventPageView['samples'] }): JSX.Element => {
  if (props.samples.length === 0) return ''
  return (
    <section aria-labelledby="samples-title">
      <h2 id="samples-title">
        Samples <small>some of the refused requests</small>
      </h2>
      <Table class="samples" hasRowHeadings={false} rows={props.samples} columns={sampleColumns} />
    </section>
  )
}

const sampleColumns: readonly Column<SampleView>[] = [
  { head: 'Time', cell: ({ at }) => <ExactInstant at={at} /> },
  {
    head: 'Why',
    cell: ({ words, code }) => (
      <span>
        <Name text={words} /> <code safe>{code}</code>
      </span>
    ),
  },
  {
    head: 'Rack and keg',
    isEmpty: ({ rack, keg }) => rack === null && keg === null,
    cell: ({ rack, keg }) => {
      const names = [rack, keg].filter((name) => name !== null)
      return names.length === 0 ? <span class="quiet">–</span> : <Name text={names.join(', ')} />
    },
  },
  {
    head: 'Request',
    class: 'place',
    cell: ({ href, requestId }) => (
      <a href={attribute(href)}>
        <code safe>{requestId}</code>
      </a>
    ),
  },
]
