import { SearchBox } from '../parts/ask-form.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { keyFields, paths } from '../paths.ts'
import type { KeyQuery } from './key-list-types.ts'
import { type ListProps, listHref } from './key-rows.tsx'

/** Outside the live part of the page, so that no update disturbs typing. */
export const KeyBox = (
  props: Pick<ListProps, 'cellar' | 'list'> & { readonly typed: string; readonly csrf: string },
): JSX.Element => {
  const { cellar, list, typed, csrf } = props
  return (
    <SearchBox
      action={cellar === null ? paths.allKeys() : paths.keys(cellar)}
      token={csrf}
      class="find-box"
      name="find"
      label="Find keys"
      isLabelHidden
      typed={typed}
      placeholder="Label, note or prefix, like clr_7Qp2mZ4k"
      isSecondary
      fields={keyFields({ ...list.query, words: [], page: 1 })}
      asTyped="#keys-now"
    />
  )
}

const statuses = [
  ['all', 'All'],
  ['active', 'Active'],
  ['expired', 'Expired'],
  ['suspended', 'Suspended'],
  ['revoked', 'Revoked'],
] as const

export const StatusLinks = (props: Pick<ListProps, 'cellar' | 'list'>): JSX.Element => (
  <NavLinks
    class="filters"
    label="Keys by status"
    links={statuses.map(([status, words]) => ({
      words,
      href: listHref(props, { status }),
      isCurrent: props.list.query.status === status,
      count: props.list.counts[status],
    }))}
  />
)

/** A chosen filter is removed by a second choice. */
export const FilterLinks = (props: Pick<ListProps, 'cellar' | 'list'>): JSX.Element => {
  const { query } = props.list
  const choice = (words: string, isCurrent: boolean, chosen: Partial<KeyQuery>, without: Partial<KeyQuery>) => ({
    words,
    isCurrent,
    href: listHref(props, isCurrent ? without : chosen),
  })
  const expires = (words: string, wanted: NonNullable<KeyQuery['expires']>) =>
    choice(words, query.expires === wanted, { expires: wanted }, { expires: null })
  const unused = (words: string, wanted: NonNullable<KeyQuery['unused']>) =>
    choice(words, query.unused === wanted, { unused: wanted }, { unused: null })
  return (
    <NavLinks
      class="filters chips"
      label="Filters"
      links={[
        expires('Expires within 7 days', '7'),
        expires('Within 30 days', '30'),
        expires('Never expires', 'never'),
        unused('Unused for 30 days', '30'),
        unused('For 90 days', '90'),
        unused('Never used', 'never'),
        choice('Near limit', query.nearLimit, { nearLimit: true }, { nearLimit: false }),
        choice('Refused today', query.refusedToday, { refusedToday: true }, { refusedToday: false }),
        choice('In rotation', query.rotation, { rotation: true }, { rotation: false }),
      ]}
    />
  )
}

/** Except the status. */
export const noFilter: Partial<KeyQuery> = {
  words: [],
  expires: null,
  unused: null,
  nearLimit: false,
  refusedToday: false,
  rotation: false,
}

export const isFiltered = (query: KeyQuery): boolean =>
  keyFields(query).length > keyFields({ ...query, ...noFilter }).length

/** On a narrow screen, where a table has no heads. */
export const OrderLinks = (props: Pick<ListProps, 'cellar' | 'list'>): JSX.Element => {
  const { query } = props.list
  const orders = [
    ['created', 'Newest'],
    ['label', 'Label'],
    ['used', 'Last used'],
    ['busiest', 'Of limit'],
    ['expires', 'Expiry'],
  ] as const
  return (
    <NavLinks
      class="filters orders"
      label="Order"
      links={orders.map(([sort, words]) => ({
        words,
        isCurrent: query.sort === sort,
        href: listHref(props, { sort, isReversed: query.sort === sort && !query.isReversed }),
      }))}
    />
  )
}
