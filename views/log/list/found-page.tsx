import { Layout } from '../../frame/layout.tsx'
import { attribute, Name } from '../../parts/name.tsx'
import { paths } from '../../paths.ts'
import type { Shell } from '../../types.ts'
import type { FoundView } from '../log-types.ts'
import { FindBox } from './log-filters.tsx'

export const FoundPage = (props: { readonly shell: Shell; readonly found: FoundView }): JSX.Element => {
  const { typed, choices, missing } = props.found
  return (
    <Layout shell={props.shell} title={choices.length === 0 ? 'Not found' : 'Found'} section="log">
      <h1>{choices.length === 0 ? 'Not found' : 'Which one do you mean?'}</h1>
      <FindBox typed={typed} csrf={props.shell.csrf} />
      {choices.length === 0 ? null : (
        <ul class="choices-found">
          {choices.map(({ what, name, href }) => (
            <li class="card">
              <a href={attribute(href)}>
                <span safe>{what}</span> <Name text={name} />
              </a>
            </li>
          ))}
        </ul>
      )}
      {missing.length === 0 ? null : (
        <section class="card" aria-labelledby="missing-title">
          <h2 id="missing-title">{choices.length === 0 ? 'What was looked for' : 'Also looked for'}</h2>
          <ul class="event-links">
            {missing.map((sentence) => (
              <li>
                <Name text={sentence} />
              </li>
            ))}
          </ul>
          {choices.length > 0 ? null : (
            <p class="below-list">
              <a href={paths.log()}>Back to the log</a>
            </p>
          )}
        </section>
      )}
    </Layout>
  )
}
