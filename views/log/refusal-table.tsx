import { attribute, Name } from '../parts/name.tsx'
import { countText } from '../parts/quantity.ts'
import { paths } from '../paths.ts'
import type { RefusalsToday } from './log-types.ts'

/** Of today, most first. Nothing if nothing was refused. */
export const RefusalTable = (props: { readonly cellar: string; readonly refusals: RefusalsToday }): JSX.Element => {
  const { counts, isLate } = props.refusals
  if (counts.length === 0 && !isLate) return ''
  return (
    <section aria-labelledby="refusals-title">
      <h2 id="refusals-title">
        Refused today <small>of all nodes, by key and reason, in UTC</small>
      </h2>
      {isLate ? (
        <p class="index-note" role="status">
          Not all refusals are counted yet. Reload this page to see more.
        </p>
      ) : null}
      <div class="table-room" hidden={counts.length === 0}>
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Reason</th>
              <th scope="col" class="number">
                Refusals
              </th>
              <th scope="col">
                <span class="visually-hidden">Explanation</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {counts.map(({ keyId, label, code, words, count, href }) => (
              <tr>
                <th scope="row">
                  <a href={attribute(paths.key(keyId))}>
                    <Name text={label} />
                  </a>
                </th>
                <td data-label="Reason">
                  <span>
                    <Name text={words} /> <code safe>{code}</code>
                  </span>
                </td>
                <td data-label="Refusals" class="number value" safe>
                  {countText(count)}
                </td>
                <td>
                  <a href={attribute(href)}>
                    Why?
                    <Name class="visually-hidden" text={` ${words}, of ${label}`} />
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="under-table">
        <a href={attribute(paths.log({ cellar: props.cellar, kind: 'refusals' }))}>All refusals of this cellar</a>
      </p>
    </section>
  )
}
