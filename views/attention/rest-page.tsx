import type { LineScope } from '../../src/domain/attention/attention-lines.ts'
import { Layout } from '../frame/layout.tsx'
import { EventSentence } from '../log/event-sentence.tsx'
import { ConfirmCard } from '../parts/confirm-card.tsx'
import { Choices } from '../parts/field.tsx'
import { attribute } from '../parts/name.tsx'
import { countOf } from '../parts/quantity.ts'
import { attentionFields, paths } from '../paths.ts'
import type { Form, Shell } from '../types.ts'
import { placedStatement } from './attention-sentences.ts'
import type { AttentionRow } from './attention-types.ts'

export const RestPage = (props: {
  readonly shell: Shell
  readonly row: AttentionRow
  /** Days. */
  readonly offered: readonly string[]
  readonly form: Form<'days'>
}): JSX.Element => {
  const { shell, row, offered, form } = props
  const fields = attentionFields(row)
  return (
    <Layout shell={shell} title="Put to rest" section="attention" narrow>
      <ConfirmCard
        title="Put to rest?"
        csrf={shell.csrf}
        action={paths.restAttention()}
        fault={form.faults.form}
        fields={
          <>
            {fields.map(([name, text]) => (
              <input type="hidden" name={name} value={attribute(text)} />
            ))}
            <Choices
              name="days"
              legend="For how long?"
              choices={[
                ...offered
                  .filter((days) => days !== '0')
                  .map((days) => [days, countOf(Number(days), 'day', 'days')] as const),
                ...(row.rest === null ? [] : [['0', endWords(row.line, row.rest.of)] as const]),
              ]}
              chosen={form.values.days}
              fault={form.faults.days}
            />
          </>
        }
        button={row.rest === null ? 'Put to rest' : 'Save'}
        isDangerous={false}
        cancel={paths.attention}
      >
        <p>
          <EventSentence sentence={placedStatement(row)} />.
        </p>
        <p class="quiet">
          The line moves to “At rest”, and the navigation no longer counts it. This holds for everybody, and the log
          says who did it.
        </p>
      </ConfirmCard>
    </Layout>
  )
}

const endWords = (line: LineScope, of: LineScope): string => {
  if (line.rack === of.rack && line.keg === of.keg) return 'End the rest now'
  return of.rack === undefined ? 'End the rest of the whole cellar now' : 'End the rest of the whole rack now'
}
