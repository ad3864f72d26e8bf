import { AskForm } from '../parts/ask-form.tsx'
import { Csrf, FieldFault, inputOf } from '../parts/field.tsx'
import { LiveSwitch } from '../parts/live.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { NavLinks } from '../parts/nav-links.tsx'
import { isoText } from '../parts/time-words.ts'
import { kegFields, paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { addressTime } from './chart-data.ts'
import type { KegPageView, KegQuery, RangeName, ShownKeg } from './keg-types.ts'

type ChoicesProps = {
  readonly shell: Shell
  readonly cellar: string
  readonly page: KegPageView
  readonly isLive: boolean
}

export const KegChoices = (props: ChoicesProps): JSX.Element => {
  const { page } = props
  const [main] = page.kegs
  if (main === undefined) return ''
  const href = (query: Partial<KegQuery>): string =>
    paths.keg(props.cellar, main.rack, main.keg, { ...page.query, table: 0, find: '', ...query })
  return (
    <div class="chart-choices">
      <RangeLinks query={page.query} href={href} />
      <RangeForm
        action={paths.keg(props.cellar, main.rack, main.keg)}
        token={props.shell.csrf}
        query={page.query}
        faults={page.faults}
        fromMs={page.charts[0]?.fromMs ?? 0}
      />
      <CompareForm {...props} main={main} href={href} />
      <div class="chart-actions">
        {page.isOpen ? <LiveSwitch isPaused={!props.isLive} href={href({ isPaused: props.isLive })} /> : null}
        <CsvButton {...props} main={main} />
      </div>
    </div>
  )
}

type HrefOf = (query: Partial<KegQuery>) => string

const ranges: readonly (readonly [name: RangeName, words: string])[] = [
  ['1h', '1 hour'],
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['1y', '1 year'],
]

const isTyped = ({ from, to }: KegQuery): boolean => from !== '' || to !== ''

export const RangeLinks = (props: { readonly query: KegQuery; readonly href: HrefOf }): JSX.Element => {
  const { query } = props
  const links = ranges.map(([range, words]) => ({
    href: props.href({ range, from: '', to: '' }),
    words,
    isCurrent: !isTyped(query) && query.range === range,
  }))
  return <NavLinks class="filters" label="Time" links={links} />
}

type FormProps = ChoicesProps & { readonly main: ShownKeg }

/** What the address has besides the fields of a form. */
const Kept = (props: { readonly query: KegQuery; readonly without: readonly string[] }): JSX.Element => {
  const kept = kegFields(props.query).filter(([name]) => !props.without.includes(name))
  return (
    <>
      {kept.map(([name, text]) => (
        <input type="hidden" name={name} value={attribute(text)} autocomplete="off" />
      ))}
    </>
  )
}

export const RangeForm = (props: {
  readonly action: string
  readonly token: string
  readonly query: KegQuery
  readonly faults: KegPageView['faults']
  /** Where the shown range begins. */
  readonly fromMs: number
}): JSX.Element => {
  const { query, faults } = props
  return (
    <details class="chart-form" open={Object.keys(faults).length > 0}>
      <summary class={isTyped(query) ? 'current' : undefined}>From … to …</summary>
      <AskForm action={props.action} token={props.token} class="card">
        <Kept query={query} without={['from', 'to', 'table', 'find', 'range']} />
        <div class="filter-fields">
          {(['from', 'to'] as const).map((name) => (
            <div class="field">
              <label for={`field-${name}`}>{name === 'from' ? 'From (UTC)' : 'To (UTC)'}</label>
              <input
                {...inputOf({ name, fault: faults[name] })}
                type="text"
                autocomplete="off"
                spellcheck="false"
                maxlength="300"
                value={attribute(query[name])}
                placeholder={name === 'from' ? addressTime(props.fromMs) : 'now'}
              />
              <FieldFault name={name} fault={faults[name]} />
            </div>
          ))}
        </div>
        <div class="form-end">
          <button type="submit">Show</button>
          <span class="hint">Like yesterday 18:00, 10:14, 3 hours ago or 2026-03-01.</span>
        </div>
      </AskForm>
    </details>
  )
}

export const comparedMax = 3

const CompareForm = (props: FormProps & { readonly href: HrefOf }): JSX.Element => {
  const { page, main, href } = props
  const { query, found } = page
  const isFull = query.with.length >= comparedMax
  if (found === null && !isFull)
    return (
      <a class="chart-link" href={attribute(href({ find: main.keg }))}>
        Compare with …
      </a>
    )
  return (
    <details class="chart-form" open={found !== null}>
      <summary>Compare with …</summary>
      <div class="card">
        {isFull ? (
          <p>Four kegs are shown already. Remove one of them first.</p>
        ) : (
          <AskForm action={paths.keg(props.cellar, main.rack, main.keg)} token={props.shell.csrf} class="ask">
            <Kept query={query} without={['find', 'table']} />
            <label for="field-find">Another keg of this cellar</label>
            <input
              id="field-find"
              name="find"
              type="search"
              autocomplete="off"
              spellcheck="false"
              maxlength="300"
              value={attribute(query.find)}
              placeholder="Rack or keg name"
            />
            <button type="submit" class="secondary">
              Find
            </button>
          </AskForm>
        )}
        {found === null ? null : found.length === 0 ? (
          <p class="below-list quiet">No other keg of this cellar has such a name.</p>
        ) : (
          <ul class="chosen-kegs">
            {found.map((keg) => (
              <li>
                <a href={attribute(href({ with: [...query.with, keg] }))}>
                  <Name text={keg.rack} /> / <Name text={keg.keg} />
                </a>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  )
}

/** The readings that were accepted in the range. */
const CsvButton = (props: FormProps): JSX.Element => {
  const { main, page } = props
  const [chart] = page.charts
  if (chart === undefined) return ''
  const fields = {
    list: 'readings',
    format: 'csv',
    cellar: props.cellar,
    rack: main.rack,
    keg: main.keg,
    since: isoText(chart.fromMs),
    until: isoText(chart.toMs),
  }
  return (
    <form method="post" action={paths.exports} data-download="">
      <Csrf token={props.shell.csrf} />
      {Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={attribute(value)} autocomplete="off" />
      ))}
      <button type="submit" class="action" title="Each export is recorded.">
        CSV, by time of acceptance
      </button>
    </form>
  )
}
