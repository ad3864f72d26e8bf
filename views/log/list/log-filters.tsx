import { AskForm } from '../../parts/field.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { dateText, dayMs } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import { eventKindsShown, kindWords } from '../kind-mark.tsx'
import type { LogListView, LogQuery } from '../log-types.ts'

export const FindBox = (props: { readonly typed: string; readonly csrf: string }): JSX.Element => (
  <search>
    <AskForm action={paths.findInLog} token={props.csrf} class="find-box">
      <label for="field-what" class="visually-hidden">
        Find a receipt, request, key, rack, cellar, operator, type of event or time
      </label>
      <input
        id="field-what"
        name="what"
        type="search"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="300"
        value={attribute(props.typed)}
        placeholder="Receipt, request id, key, rack, cellar, e-mail, type or time"
        aria-describedby="find-examples"
      />
      <button type="submit">Find</button>
    </AskForm>
    <p class="quiet find-examples" id="find-examples">
      For example <code>readings-7Qp2mZ4k@976</code> · <code>clr_7Qp2mZ4k yesterday</code> · <code>10:14</code> ·{' '}
      <code>10:10..10:20</code> · <code>KeyRevoked last week</code>
    </p>
  </search>
)

/** Another kind keeps the other filters, but not the place in the list. */
export const KindLinks = (props: { readonly query: LogQuery }): JSX.Element => {
  const query = { ...props.query, type: '', before: null, after: null }
  return (
    <nav class="filters" aria-label="Kind of event">
      <ul>
        <li>
          <a
            href={attribute(paths.log({ ...query, kind: null }))}
            aria-current={query.kind === null && query.unknownKind === '' ? 'page' : undefined}
          >
            All
          </a>
        </li>
        {eventKindsShown.map((kind) => (
          <li>
            <a
              href={attribute(paths.log({ ...query, kind }))}
              aria-current={query.kind === kind ? 'page' : undefined}
              safe
            >
              {kindWords[kind]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
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
    <nav class="filters times" aria-label="Time">
      <ul>
        {times.map(({ words, from = '', to = '' }) => (
          <li>
            <a
              href={attribute(paths.log({ ...query, from, to, at: '', before: null, after: null }))}
              aria-current={query.at === '' && query.from === from && query.to === to ? 'page' : undefined}
              safe
            >
              {words}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

export const FilterForm = (props: { readonly list: LogListView; readonly csrf: string }): JSX.Element => {
  const { query, faults, cellars, types } = props.list
  const chosen = chosenFilters(query)
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
          <FilterField
            name="cellar"
            label="Cellar"
            list={props.list}
            suggestions={cellars.length > 0}
            hint="Its identifier"
          />
          <FilterField name="key" label="Key" list={props.list} hint="Like clr_7Qp2mZ4k" />
          <FilterField name="actor" label="Who" list={props.list} hint="E-mail, key, cli or system" />
          <FilterField name="from" label="From (UTC)" list={props.list} hint="Like yesterday 18:00" />
          <FilterField name="to" label="To (UTC)" list={props.list} hint="Like 10:14" />
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

type FieldName = 'cellar' | 'key' | 'actor' | 'from' | 'to'

const FilterField = (props: {
  readonly name: FieldName
  readonly label: string
  readonly hint: string
  readonly list: LogListView
  readonly suggestions?: boolean
}): JSX.Element => {
  const fault = props.list.faults[props.name]
  return (
    <div class="field">
      <label for={`field-${props.name}`} safe>
        {props.label}
      </label>
      <input
        id={`field-${props.name}`}
        name={props.name}
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="300"
        list={props.suggestions ? 'known-cellars' : undefined}
        value={attribute(props.list.query[props.name])}
        placeholder={props.hint}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={fault === undefined ? undefined : `fault-${props.name}`}
      />
      {fault === undefined ? null : (
        <p class="fault" id={`fault-${props.name}`}>
          <Name text={fault} />
        </p>
      )}
    </div>
  )
}

const TypeField = (props: {
  readonly query: LogQuery
  readonly types: LogListView['types']
  readonly fault: string | undefined
}): JSX.Element => (
  <div class="field">
    <label for="field-type">Type of event</label>
    <select id="field-type" name="type">
      <option value="">Any</option>
      {props.types.map((type) => (
        <option value={type} selected={type === props.query.type}>
          {type}
        </option>
      ))}
    </select>
    {props.fault === undefined ? null : (
      <p class="fault">
        <Name text={props.fault} />
      </p>
    )}
  </div>
)

const chosenFilters = (query: LogQuery): readonly { readonly name: string; readonly text: string }[] =>
  (
    [
      ['cellar', 'cellar'],
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
