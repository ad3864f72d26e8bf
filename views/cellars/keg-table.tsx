import { attribute, Name } from '../parts/name.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { Sparkline } from '../parts/sparkline.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Ago } from '../parts/time.tsx'
import { Value } from '../parts/value.tsx'
import { paths } from '../paths.ts'
import type { KegListView, KegOrder, KegView, RackView, ReadingView } from '../types.ts'

type KegsProps = KegListView & { readonly cellar: string; readonly nowMs: number }

export const Kegs = (props: KegsProps): JSX.Element => (
  <section aria-labelledby="kegs-title">
    <h2 id="kegs-title">
      Kegs{' '}
      <small safe>
        {props.find === ''
          ? countOf(props.all, 'keg', 'kegs')
          : `${countText(props.found)} of ${countOf(props.all, 'keg', 'kegs')}`}
      </small>
    </h2>
    {props.kegs.length === 0 ? (
      <NoKegs find={props.find} />
    ) : (
      <>
        <OrderLinks {...props} />
        <Table class="kegs" columns={kegColumns(props)} {...linesOf(props)} />
      </>
    )}
    <PageLinks
      page={props.page}
      pages={props.pages}
      hrefOf={(page) => paths.cellar(props.cellar, props.find, page, props.order)}
      words={{ before: 'Previous kegs', behind: 'Next kegs' }}
    />
  </section>
)

const NoKegs = (props: { readonly find: string }): JSX.Element => (
  <div class="empty small">
    {props.find === '' ? (
      <p>
        No keg has a latest value yet: the timestamps of all readings are more than 10 minutes in the future. Correct
        the clocks of the devices.
      </p>
    ) : (
      <p>
        No rack or keg name matches{' '}
        <q>
          <Name text={props.find} />
        </q>
        .
      </p>
    )}
  </div>
)

export const KegName = ({ cellar, rack, keg }: Pick<ReadingView, 'cellar' | 'rack' | 'keg'>): JSX.Element => (
  <>
    <Name class="under" text={rack} />
    <a class="row-name" href={attribute(paths.keg(cellar, rack, keg))}>
      <Name text={keg} />
    </a>
  </>
)

/** Another order cuts racks into pieces, so its rows name their racks. */
const isByRack = ({ order }: KegListView): boolean => order.sort === 'name' && !order.silentFirst

const linesOf = (props: KegsProps) => {
  if (!isByRack(props)) return { rows: props.kegs }
  const racks = new Map(props.racks.map((rack) => [rack.rack, rack]))
  const sections = [...Map.groupBy(props.kegs, ({ rack }) => rack)].map(([rack, rows]) => ({
    class: 'rack-row',
    heading: () => <RackHeading cellar={props.cellar} name={rack} rack={racks.get(rack)} nowMs={props.nowMs} />,
    rows,
  }))
  return { sections }
}

const RackHeading = (props: {
  readonly cellar: string
  readonly name: string
  readonly rack: RackView | undefined
  readonly nowMs: number
}): JSX.Element => {
  const { cellar, name, rack, nowMs } = props
  return (
    <>
      <a class="row-name" href={attribute(paths.rack(cellar, name))}>
        <Name text={name} />
      </a>{' '}
      {rack === undefined ? null : (
        <small>
          <span safe>{countOf(rack.kegs, 'keg', 'kegs')}</span>
          {rack.silent === 0 ? null : (
            <>
              {' · '}
              <strong class="silent" safe>
                {rack.silent === rack.kegs ? 'silent' : `${countText(rack.silent)} silent`}
              </strong>
            </>
          )}
          {' · last reading '}
          <Ago at={rack.acceptedMs} nowMs={nowMs} />
        </small>
      )}
    </>
  )
}

const OrderLinks = (props: KegsProps): JSX.Element => {
  const { sort, silentFirst } = props.order
  const links = [
    { words: 'By rack', order: {}, isCurrent: isByRack(props) },
    { words: 'Silent first', order: { silentFirst: true }, isCurrent: sort === 'name' && silentFirst },
    { words: 'By age', order: orderBy(props, 'age'), isCurrent: sort === 'age' },
    { words: 'By value', order: orderBy(props, 'value'), isCurrent: sort === 'value' },
  ]
  return (
    <NavLinks
      class="filters"
      label="Order"
      links={links.map(({ words, order, isCurrent }) => ({
        words,
        href: paths.cellar(props.cellar, props.find, 1, order),
        isCurrent,
      }))}
    />
  )
}

/** A second choice turns the order around. The oldest and the highest come first. */
const orderBy = ({ order }: KegListView, sort: KegOrder['sort']): KegOrder => ({
  sort,
  isReversed: order.sort === sort && !order.silentFirst ? !order.isReversed : sort !== 'name',
  silentFirst: false,
})

const sortBy = (props: KegsProps, sort: KegOrder['sort']): NonNullable<Column<KegView>['sort']> => ({
  href: paths.cellar(props.cellar, props.find, 1, orderBy(props, sort)),
  direction:
    props.order.sort !== sort || props.order.silentFirst ? null : props.order.isReversed ? 'descending' : 'ascending',
})

const kegColumns = (props: KegsProps): readonly Column<KegView>[] => [
  {
    head: isByRack(props) ? 'Keg' : 'Rack and keg',
    sort: sortBy(props, 'name'),
    cell: ({ rack, keg }) =>
      isByRack(props) ? (
        <a class="row-name" href={attribute(paths.keg(props.cellar, rack, keg))}>
          <Name text={keg} />
        </a>
      ) : (
        <KegName cellar={props.cellar} rack={rack} keg={keg} />
      ),
  },
  {
    head: 'Latest value',
    isNumber: true,
    class: 'value',
    sort: sortBy(props, 'value'),
    cell: ({ latest, unit }) => <Value value={latest.value} unit={unit} />,
  },
  {
    head: 'Age',
    title:
      'Since the last reading was accepted. A keg is silent after ten of its usual pauses, from 1 minute to 1 day.',
    sort: sortBy(props, 'age'),
    cell: ({ acceptedMs, isSilent }) => (
      <>
        <Ago at={acceptedMs} nowMs={props.nowMs} /> {isSilent ? <strong class="silent">silent</strong> : null}
      </>
    ),
  },
  { head: 'Last 24 hours', cell: ({ day }) => <Sparkline means={day} /> },
]
