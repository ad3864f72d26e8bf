import { ListExports } from '../../exports/list-export.tsx'
import { Layout } from '../../frame/layout.tsx'
import { Live, LiveSwitch } from '../../parts/live.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { countText } from '../../parts/quantity.ts'
import { exactText, isoText } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import type { Shell } from '../../types.ts'
import { type LogListView, rackKeysMax } from '../log-types.ts'
import { BarsFigure, LogBars } from './log-bars.tsx'
import { FilterForm, FindBox, KindLinks, TimeLinks } from './log-filters.tsx'
import { LogTable } from './log-table.tsx'

export const LogPage = (props: { readonly shell: Shell; readonly list: LogListView }): JSX.Element => {
  const { shell, list } = props
  const { query, newerHref, faults } = list
  const isNewest = newerHref === null && query.at === ''
  const canGrow = isNewest && Object.keys(faults).length === 0 && !isOfPast(list, shell.nowMs)
  const isLive = canGrow && !query.isPaused
  return (
    <Layout shell={shell} title="Log" section="log">
      <h1>Log</h1>
      <p class="lead">Everything that happened, newest first. Times are UTC.</p>
      <FindBox typed="" csrf={shell.csrf} />
      <div class="log-choices">
        <KindLinks query={query} />
        <p class="list-actions">
          {canGrow ? (
            <LiveSwitch isPaused={query.isPaused} href={paths.log({ ...query, isPaused: !query.isPaused })} />
          ) : null}
          {list.exported === null ? null : (
            <a class="action" href="#export">
              Export
            </a>
          )}
        </p>
      </div>
      {faults.kind === undefined ? null : (
        <p class="fault">
          <Name text={faults.kind} />
        </p>
      )}
      <div class="log-narrow">
        <FilterForm list={list} csrf={shell.csrf} />
        <TimeLinks query={query} nowMs={shell.nowMs} />
      </div>
      {list.about === null ? null : (
        <p class="about-filter">
          <span safe>{`${list.about.words}:`}</span>{' '}
          <a href={attribute(list.about.href)}>
            <Name text={list.about.name} />
          </a>
        </p>
      )}
      {query.rack === '' || Object.keys(faults).length > 0 ? null : (
        <p class="quiet rack-note" safe>
          {rackWords(list)}
        </p>
      )}
      {list.bars === null ? null : <LogBars view={list.bars} />}
      <Live from={paths.liveLog(query)} target="#log-list" isPaused={!isLive}>
        <LogList list={list} nowMs={shell.nowMs} />
      </Live>
      {list.exported === null ? null : <ListExports shell={shell} exported={list.exported} />}
    </Layout>
  )
}

const rackWords = ({ query, rackKeys }: LogListView): string => {
  if (rackKeys === null) return 'Readings of this rack. This node cannot say now which keys sent for it.'
  const isOfReadings = query.kind === 'readings' || query.type === 'ReadingAccepted'
  const isOfAll = query.kind === null && query.type === ''
  if (rackKeys === 0 && (isOfReadings || isOfAll)) return 'Readings of this rack. No key that sent for it is known now.'
  if (isOfReadings) return `Readings of this rack by ${keysWords(rackKeys)}.`
  return isOfAll
    ? `Readings of this rack, and all events of ${keysWords(rackKeys)}.`
    : `Events of ${keysWords(rackKeys)}.`
}

const keysWords = (keys: number): string => {
  if (keys === 0) return 'its keys: none is known'
  if (keys === 1) return 'the key that sent for it'
  return keys < rackKeysMax ? `the ${keys} keys that sent for it` : `the last ${keys} keys that sent for it`
}

/** The chosen time is over, so nothing can come into the list. */
const isOfPast = ({ exported }: LogListView, nowMs: number): boolean =>
  exported?.filter.until !== undefined && exported.filter.until <= isoText(nowMs)

export const LogPush = (props: { readonly list: LogListView; readonly nowMs: number }): JSX.Element => (
  <>
    <LogList list={props.list} nowMs={props.nowMs} />
    {props.list.bars === null ? null : (
      <tag of="hx-partial" hx-target="#bars-figure" hx-swap="outerMorph">
        <BarsFigure view={props.list.bars} />
      </tag>
    )}
  </>
)

const LogList = (props: { readonly list: LogListView; readonly nowMs: number }): JSX.Element => {
  const { list } = props
  return (
    <div id="log-list" data-hold>
      <IndexNote list={list} />
      {list.rows.length === 0 ? <NoRows list={list} /> : <LogTable rows={list.rows} nowMs={props.nowMs} />}
      {Object.keys(list.faults).length > 0 ? null : <Turns list={list} />}
    </div>
  )
}

const IndexNote = (props: { readonly list: LogListView }): JSX.Element => {
  const { index } = props.list
  if (index.kind === 'current') return ''
  return (
    <p class="index-note" role="status">
      {index.kind === 'late' ? (
        'The newest readings are not counted by minute yet.'
      ) : index.kind === 'behind' ? (
        <span safe>
          {`The index of the log is being built: it has read up to position ${countText(index.read)} of ${countText(index.of)}. Until then, a search reads the log itself, in steps. Readings are not counted by minute yet.`}
        </span>
      ) : (
        <>
          <span>
            This node cannot use its index of the log now. A search reads the log itself, in steps, and readings are not
            counted by minute.
          </span>
          {index.why === null ? null : (
            <small>
              {' '}
              <Name text={`Cause: ${index.why}`} />
            </small>
          )}
        </>
      )}
    </p>
  )
}

const NoRows = (props: { readonly list: LogListView }): JSX.Element => {
  const { faults, end, query } = props.list
  if (Object.keys(faults).length > 0) {
    return (
      <div class="empty small">
        <p>Correct the filter to see events.</p>
      </div>
    )
  }
  const isWithoutReadings = query.key !== '' && props.list.exported?.filter.readings === 'no'
  return (
    <div class="empty small">
      {end.kind === 'complete' ? (
        <p>{isWithoutReadings ? 'Nothing in the log matches, readings aside.' : 'Nothing in the log matches.'}</p>
      ) : (
        <p>Nothing found yet. Go on to search further back.</p>
      )}
      {isWithoutReadings ? (
        <p>
          <a href={attribute(paths.log({ ...query, kind: 'readings', before: null, after: null }))}>
            Show the readings of this filter
          </a>
        </p>
      ) : null}
      {isFiltered(query) ? <a href={paths.log()}>Show everything</a> : null}
    </div>
  )
}

const isFiltered = (query: LogListView['query']): boolean =>
  query.kind !== null ||
  (['type', 'actor', 'cellar', 'rack', 'key', 'from', 'to', 'at'] as const).some((name) => query[name] !== '')

const Turns = (props: { readonly list: LogListView }): JSX.Element => {
  const { list } = props
  const { newerHref, olderHref, end, query } = list
  const isBackwards = query.after === null
  if (list.rows.length === 0 && end.kind === 'complete' && newerHref === null && olderHref === null) return ''
  return (
    <nav class="log-turns" aria-label="Pages">
      {newerHref === null ? null : (
        <>
          <a class="action" href={attribute(paths.log({ ...query, at: '', before: null, after: null }))}>
            Newest
          </a>
          <a class="action" href={attribute(newerHref)}>
            ← Newer
          </a>
        </>
      )}
      {olderHref === null ? null : (
        <a class="action" href={attribute(olderHref)}>
          {end.kind === 'time_over' && isBackwards ? 'Go on searching →' : 'Older →'}
        </a>
      )}
      <span class="quiet" safe>
        {endText(end, isBackwards)}
      </span>
    </nav>
  )
}

const endText = (end: LogListView['end'], isBackwards: boolean): string => {
  if (end.kind === 'page_full') return ''
  if (end.kind === 'complete')
    return isBackwards ? 'This is the beginning: there is nothing older.' : 'There is nothing newer.'
  const reached = end.atMs === null ? `position ${countText(end.position)}` : exactText(end.atMs)
  return `The search took too long, so it stopped. It has searched ${isBackwards ? 'back' : 'up'} to ${reached}, all of it.`
}
