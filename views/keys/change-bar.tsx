import { HiddenFields } from '../parts/ask-form.tsx'
import { attribute } from '../parts/name.tsx'
import { countOf, countText } from '../parts/quantity.ts'
import { keyFields } from '../paths.ts'
import { isFiltered, noFilter } from './key-filters.tsx'
import type { KeyListView } from './key-list-types.ts'
import { type ListProps, listHref } from './key-rows.tsx'

/** Changes the selected keys, or all that the list finds. CSS shows the buttons once something is selected. */
export const ChangeBar = (props: ListProps): JSX.Element => {
  const { list, cellar } = props
  const { query, found, keys, mayLack } = list
  const isWhole = keys.length === found && !mayLack
  return (
    <fieldset class="change-bar">
      <legend class="visually-hidden">Change several keys</legend>
      <HiddenFields fields={[...keyFields({ ...query, page: 1, isPaused: false }), ...cellarField(cellar)]} />
      <label class="picks only-live">
        <input type="checkbox" data-picks="" autocomplete="off" />
        <span>{isWhole ? 'All' : 'This page'}</span>
      </label>
      {mayLack ? null : (
        <label class={isWhole ? 'picks only-static' : 'picks'}>
          <input type="checkbox" name="all" value="on" autocomplete="off" />
          <span safe>{`All ${countText(found)} found`}</span>
        </label>
      )}
      <Found {...props} />
      <output class="picked only-live" />
      <span class="change-buttons">
        {query.status === 'suspended' ? null : <Change to="suspend" words="Suspend" />}
        {query.status === 'suspended' || query.status === 'all' ? <Change to="resume" words="Resume" /> : null}
        <Change to="expiry" words="Set expiry" />
        <Change to="limit" words="Set limit" />
        <Change to="rotate" words="Rotate" />
        {query.rotation ? <Change to="retire" words="Retire old keys" isDangerous /> : null}
        <Change to="revoke" words="Revoke" isDangerous />
      </span>
    </fieldset>
  )
}

export const Found = (props: ListProps): JSX.Element => {
  const { query } = props.list
  return (
    <span class="found quiet" role="status">
      <span safe>{foundWords(props.list)}</span>
      {isFiltered(query) ? (
        <>
          {' · '}
          <a href={attribute(listHref(props, noFilter))}>Show all</a>
        </>
      ) : null}
    </span>
  )
}

const foundWords = ({ found, all }: KeyListView): string => `${countText(found)} of ${countOf(all, 'key', 'keys')}`

const cellarField = (cellar: string | null) => (cellar === null ? [] : ([['cellar', cellar]] as const))

const Change = (props: {
  readonly to: string
  readonly words: string
  readonly isDangerous?: boolean
}): JSX.Element => (
  <button type="submit" name="do" value={props.to} class={props.isDangerous ? 'secondary danger' : 'secondary'} safe>
    {props.words}
  </button>
)
