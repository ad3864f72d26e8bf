import { Choices, PostForm, TextField } from '../../parts/field.tsx'
import type { EditForm, Form } from '../../types.ts'
import { capitalised, kindWords } from '../attention-sentences.ts'
import type { KindChoice, WebhookField } from './webhook-types.ts'

/** Makes a webhook, or changes one. */
export const WebhookForm = (props: {
  readonly csrf: string
  readonly action: string
  readonly title: string
  readonly button: string
  readonly form: Form<WebhookField> | EditForm<WebhookField>
  readonly kinds: readonly KindChoice[]
}): JSX.Element => {
  const { form } = props
  const { values, faults } = form
  return (
    <PostForm
      action={props.action}
      csrf={props.csrf}
      form={form}
      above={<h2 safe>{props.title}</h2>}
      button={props.button}
    >
      <TextField
        form={form}
        name="url"
        label="Address"
        hint="Where this service posts to, as JSON. It begins with https://."
        placeholder="https://example.org/alerts"
        isExact
        required
      />
      <Choices
        name="which"
        legend="Send"
        choices={[
          ['all', 'Everything that needs attention'],
          ['some', 'Only what I choose'],
        ]}
        chosen={values.which}
        fault={faults.which}
      >
        <div class="choice-detail">
          <div class="choices">{props.kinds.map(Kind)}</div>
        </div>
      </Choices>
    </PostForm>
  )
}

const Kind = ({ kind, isChosen }: KindChoice): JSX.Element => (
  <label class="choice">
    <input type="checkbox" name={`kind_${kind}`} value="on" checked={isChosen} />
    <span safe>{capitalised(kindWords[kind])}</span>
  </label>
)
