import { ExportForm } from '../exports/export-form.tsx'
import type { RefusalsToday } from '../log/log-types.ts'
import { ReceiptLink } from '../log/receipt-link.tsx'
import { RefusalTable } from '../log/refusal-table.tsx'
import { SearchBox } from '../parts/ask-form.tsx'
import { Live, LiveSwitch } from '../parts/live.tsx'
import { Name } from '../parts/name.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Ago, Instant } from '../parts/time.tsx'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { CellarView, KegListView, KegOrder, ReadingsState, ReadingView, Shell } from '../types.ts'
import { CellarFrame } from './cellar-frame.tsx'
import { KegName, Kegs } from './keg-table.tsx'

export const ReadingsPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly kegs: KegListView
  /** A search uses only the first words; `ignoredWords` are the rest. */
  readonly typed: string
  readonly ignoredWords: readonly string[]
  readonly isPaused: boolean
  readonly readings: readonly ReadingView[]
  readonly state: ReadingsState
  /** Decides the advice while the cellar has no readings. */
  readonly hasActiveKey: boolean
  readonly refusals: RefusalsToday
}): JSX.Element => (
  <CellarFrame shell={props.shell} cellar={props.cellar} tab="readings" title="Readings">
    {props.typed !== '' || props.kegs.all > 0 ? (
      <FindKegs
        cellar={props.cellar.cellar}
        csrf={props.shell.csrf}
        typed={props.typed}
        find={props.kegs.find}
        order={props.kegs.order}
        ignoredWords={props.ignoredWords}
      />
    ) : null}
    <RefusalTable cellar={props.cellar.cellar} refusals={props.refusals} />
    <p class="list-actions at-end">
      <LiveSwitch
        isPaused={props.isPaused}
        href={paths.cellar(props.cellar.cellar, props.kegs.find, props.kegs.page, {
          ...props.kegs.order,
          isPaused: !props.isPaused,
        })}
      />
    </p>
    <Live
      from={paths.liveReadings(props.cellar.cellar, props.kegs.find, props.kegs.page, props.kegs.order)}
      target="#cellar-readings"
      isPaused={props.isPaused}
    >
      <CellarReadings
        cellar={props.cellar.cellar}
        kegs={props.kegs}
        readings={props.readings}
        state={props.state}
        hasActiveKey={props.hasActiveKey}
        nowMs={props.shell.nowMs}
        isAdmin={props.shell.operator?.role === 'admin'}
      />
    </Live>
    <ExportForm
      shell={props.shell}
      lists={['readings']}
      filter={{ cellar: props.cellar.cellar }}
      fields={['since', 'until', 'rack', 'keg', 'key']}
    />
  </CellarFrame>
)

type CellarReadingsProps = {
  readonly cellar: string
  readonly kegs: KegListView
  readonly readings: readonly ReadingView[]
  readonly state: ReadingsState
  readonly hasActiveKey: boolean
  readonly nowMs: number
  readonly isAdmin: boolean
}

export const CellarReadings = (props: CellarReadingsProps): JSX.Element => (
  <div id="cellar-readings" data-hold>
    <StateNote state={props.state} />
    <KegsAndReadings {...props} />
  </div>
)

const KegsAndReadings = (props: CellarReadingsProps): JSX.Element => {
  const isEmpty = props.kegs.find === '' && props.kegs.all === 0 && props.readings.length === 0
  if (isEmpty && props.state.kind !== 'current') return ''
  if (isEmpty) return <NoReadings cellar={props.cellar} hasActiveKey={props.hasActiveKey} isAdmin={props.isAdmin} />
  return (
    <>
      <Kegs cellar={props.cellar} nowMs={props.nowMs} {...props.kegs} />
      <ReadingTable readings={props.readings} nowMs={props.nowMs} />
    </>
  )
}

export const StateNote = (props: { readonly state: ReadingsState }): JSX.Element => {
  const { state } = props
  if (state.kind === 'current') return ''
  return (
    <p class="index-note" role="status">
      {state.kind === 'away' ? (
        'This node cannot show readings right now. It still accepts them. This page tries again by itself.'
      ) : state.kind === 'log_away' ? (
        'The event log is unavailable, so the latest readings are missing. This page tries again by itself.'
      ) : state.asOfMs === null ? (
        'The readings are being sorted in. They appear here as soon as they are ready.'
      ) : (
        <>
          These readings are as of <Instant at={state.asOfMs} />. Newer ones are being sorted in.
        </>
      )}
    </p>
  )
}

const NoReadings = (props: {
  readonly cellar: string
  readonly hasActiveKey: boolean
  readonly isAdmin: boolean
}): JSX.Element => (
  <div class="empty">
    <h2>No readings yet</h2>
    {props.hasActiveKey ? (
      <p>
        This cellar has an active key. When a device sends a reading, the reading appears here without a reload. If a
        reading is refused, the page of the key shows why.
      </p>
    ) : (
      <p>To send readings, a device needs an API key of this cellar.</p>
    )}
    {props.isAdmin && !props.hasActiveKey ? (
      <a class="button" href={paths.newKey(props.cellar)}>
        Create New Key
      </a>
    ) : (
      <a href={paths.keys(props.cellar)}>See the API keys of this cellar</a>
    )}
  </div>
)

/** Outside the live part of the page, so that no update disturbs typing. */
const FindKegs = (props: {
  readonly cellar: string
  readonly csrf: string
  readonly typed: string
  readonly find: string
  readonly order: KegOrder
  readonly ignoredWords: readonly string[]
}): JSX.Element => (
  <SearchBox
    action={paths.cellar(props.cellar, '', 1, props.order)}
    token={props.csrf}
    class="ask toolbar"
    name="find"
    label="Find racks and kegs"
    typed={props.typed}
    placeholder="Rack or keg name"
    isSecondary
    showAll={props.typed === '' ? undefined : paths.cellar(props.cellar, '', 1, props.order)}
  >
    {props.ignoredWords.length === 0 ? null : (
      <p class="quiet" role="status">
        <span safe>{`Only the first ${props.find.split(' ').length} words are used. These words are ignored:`}</span>{' '}
        <Name text={props.ignoredWords.join(' ')} />
      </p>
    )}
  </SearchBox>
)

const ReadingTable = (props: { readonly readings: readonly ReadingView[]; readonly nowMs: number }): JSX.Element => (
  <section aria-labelledby="latest-title">
    <h2 id="latest-title">
      Latest readings <small>newest first, in the order of acceptance</small>
    </h2>
    {props.readings.length > 0 ? null : <p class="quiet">None of them is of these kegs.</p>}
    <Table
      room="wider"
      isHidden={props.readings.length === 0}
      rows={props.readings}
      frameOf={({ position }) => ({ id: `reading-${position}` })}
      columns={readingColumns(props.nowMs)}
    />
  </section>
)

const readingColumns = (nowMs: number): readonly Column<ReadingView>[] => [
  { head: 'Rack and keg', cell: KegName },
  { head: 'Value', isNumber: true, class: 'value', cell: ({ value, unit }) => <Value value={value} unit={unit} /> },
  {
    head: 'Timestamp',
    cell: ({ timestamp, clockSkew }) => (
      <>
        <code safe>{timestamp}</code> {clockSkew ? <ClockAhead /> : null}
      </>
    ),
  },
  { head: 'Accepted', cell: ({ recordedAt }) => <Ago at={recordedAt} nowMs={nowMs} /> },
  {
    head: 'Key',
    cell: ({ keyId, keyLabel }) => (
      <a href={paths.key(keyId)}>
        <Name text={keyLabel} />
      </a>
    ),
  },
  {
    head: 'Receipt',
    title: 'The place of the reading in the event log. The device got the same receipt.',
    cell: (reading) => <ReceiptLink event={reading} />,
  },
]

const ClockAhead = (): JSX.Element => (
  <span
    class="mark skew"
    title="The timestamp is more than 10 minutes in the future, so this reading does not become the latest value. Check the device’s clock."
  >
    clock ahead
  </span>
)
