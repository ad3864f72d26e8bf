import { AskForm, SearchBox } from '../../parts/ask-form.tsx'
import { FieldFault, inputOf, TextField } from '../../parts/field.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { NavLinks } from '../../parts/nav-links.tsx'
import { dateText, dayMs } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import { eventKindsShown, kindWords } from '../kind-mark.tsx'
import type { LogListView, LogQuery } from '../log-types.ts'

export const FindBox = (props: { readonly typed: string; readonly csrf: string }): JSX.Element => (
  <SearchBox
    action={paths.findInLog}
    token={props.csrf}
    class="find-box"
    name="what"
    label="Find a receipt, request, key, rack, cellar, operator, type of event or time"
    isLabelHidden
    typed={props.typed}
    placeholder="Receipt, request id, key, rack, cellar, e-mail, type or time"
    describedBy="find-examples"
  >
    <p class="quiet find-examples" id="find-examples">
      For example <code>readings-7Qp2mZ4k@976</code> · <code>clr_7Qp2mZ4k yesterday</code> · <code>10:14</code> ·{' '}
      <code>10:10..10:20</code> · <code>KeyRevoked last week</code> · <code>rack:rack-07</code>
    </p>
  </SearchBox>
)

/** Another kind keeps the other filters, but not the place in the list. */
export const KindLinks = (props: { readonly query: LogQuery }): JSX.Element => {
  const query = { ...props.query, type: '', before: null, after: null }
  const isAll = query.kind === null && query.unknownKind === ''
  return (
    <NavLinks
      class="filters"
      label="Kind of event"
      links={[
        { words: 'All', href: paths.log({ ...query, kind: null }), isCurrent: isAll },
        ...eventKindsShown.map((kind) => ({
          words: kindWords[kind],
          href: paths.log({ ...query, kind }),
          isCurrent: query.kind === kind,
        })),
      ]}
    />
  )
}

/** All but the last hour are days in the address, so it leads to the same list tomorrow. */
export const TimeLinks = (props: { readonly query: LogQuery; readonly nowMs: number }): JSX.Element => {
  const { query, nowMs } = props
  const [yesterday, today, tomorrow] = [nowMs - dayMs, nowMs, nowMs + dayMs].map(dateText)
  const times = [
    { words: 'Any time', from: '', to: '' },
    { words: 'Last hour', from: '1 hour ago', to: '' },
    { words: 'Today', from: today, to: tomorrow },
    { words: 'Yesterday', from: yesterday, to: today },
  ]
  return (
    <NavLinks
      class="filters times"
      label="Time"
      links={times.map(({ words, from = '', to = '' }) => ({
        words,
        href: paths.log({ ...query, from, to, at: '', before: null, after: null }),
        isCurrent: query.at === '' && query.from === from && query.to === to,
      }))}
    />
  )
}

export const FilterForm = (props: { readonly list: LogListView; readonly csrf: string }): JSX.Element => {
  const { query, faults, cellars, types } = props.list
  const chosen = chosenFilters(query)
  const field = { form: { values: query, faults }, isQuiet: true, isExact: true } as const
  const suggestions = cellars.length > 0 ? 'known-cellars' : undefined
  return (
    <details class="log-filter" open={Object.keys(faults).length > 0}>
      <summary>
        Filter
        {chosen.map(({ name, text }) => (
          <span class="chosen">
            <span safe>{name}</span> <Name text={text} />
          </span>
        ))}
      </summary>
      <AskForm action={paths.log()} token={props.csrf} class="card">
        {query.kind === null ? null : <input type="hidden" name="kind" value={query.kind} />}
        <div class="filter-fields">
          <TextField {...field} name="cellar" label="Cellar" list={suggestions} placeholder="Its identifier" />
          <TextField {...field} name="rack" label="Rack" placeholder="Its name, with a cellar" />
          <TextField {...field} name="key" label="Key" placeholder="Like clr_7Qp2mZ4k" />
          <TextField {...field} name="actor" label="Who" placeholder="E-mail, key, cli or system" />
          <TextField {...field} name="from" label="From (UTC)" placeholder="Like yesterday 18:00" />
          <TextField {...field} name="to" label="To (UTC)" placeholder="Like 10:14" />
          <TypeField query={query} types={types} fault={faults.type} />
        </div>
        <datalist id="known-cellars">
          {cellars.map(({ id, title }) => (
            <option value={attribute(id)} label={attribute(title)}></option>
          ))}
        </datalist>
        <div class="form-end">
          <button type="submit">Show</button>
          <a href={attribute(paths.log({ kind: query.kind }))}>Clear</a>
        </div>
      </AskForm>
    </details>
  )
}

const TypeField = (props: {
  readonly query: LogQuery
  readonly types: LogListView['types']
  readonly fault: string | undefined
}): JSX.Element => (
  <div class="field">
    <label for="field-type">Type of event</label>
    <select {...inputOf({ name: 'type', fault: props.fault })}>
      <option value="">Any</option>
      {props.types.map((type) => (
        <option value={type} selected={type === props.query.type}>
          {type}
        </option>
      ))}
    </select>
    <FieldFault name="type" fault={props.fault} />
  </div>
)

const chosenFilters = (query: LogQuery): readonly { readonly name: string; readonly text: string }[] =>
  (
    [
      ['cellar', 'cellar'],
      ['rack', 'rack'],
      ['key', 'key'],
      ['by', 'actor'],
      ['type', 'type'],
      ['from', 'from'],
      ['to', 'to'],
      ['at', 'at'],
    ] as const
  )
    .map(([name, field]) => ({ name, text: query[field] }))
    .filter(({ text }) => text !== '')
