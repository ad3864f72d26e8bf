import { Layout } from '../frame/layout.tsx'
import { Choices, PostForm, TextField } from '../parts/field.tsx'
import { Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Form, NewCellarField, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

export const NewCellarPage = (props: {
  readonly shell: Shell
  readonly form: Form<NewCellarField>
  /** Of the first key. Chosen before the form is sent, so the page of a form that is sent twice can say so. */
  readonly keyId: string
  /** Has the typed identifier. */
  readonly existing: Pick<CellarView, 'cellar' | 'title'> | null
}): JSX.Element => (
  <Layout shell={props.shell} title="Create cellar" section="cellars" narrow>
    <Breadcrumbs cellar={null} />
    <h1>Create cellar</h1>
    <PostForm
      action={paths.cellars}
      csrf={props.shell.csrf}
      form={props.form}
      button="Create cellar"
      cancel={paths.cellars}
    >
      <TextField
        form={props.form}
        name="cellar"
        label="Identifier"
        hint="Devices send this text as “cellar”. It is case-sensitive. You cannot change it later, because that would break every device."
        placeholder="wine-berlin"
        required
        autofocus
      />
      {props.existing === null ? null : (
        <p>
          Open the cellar{' '}
          <a href={paths.keys(props.existing.cellar)}>
            <Name text={props.existing.title} />
          </a>
        </p>
      )}
      <TextField
        form={props.form}
        name="title"
        label="Title"
        hint="The dashboard shows this name. You can change it at any time. Default: the identifier."
        placeholder="Wine cellar, Berlin"
      />
      <input type="hidden" name="_key_id" value={props.keyId} />
      <Choices
        name="first_key"
        legend="First API key"
        hint="Devices need a key to send readings. It has no expiry and the default limit; you can change both later."
        choices={[
          ['now', 'Create now'],
          ['later', 'Later'],
        ]}
        chosen={props.form.values.first_key}
        isRefused={props.form.faults.label !== undefined}
      >
        <div class="choice-detail">
          <TextField
            form={props.form}
            name="label"
            label="Label"
            hint="Name the application that uses this key. Default: “Key 1”."
            placeholder="Fermentation controller"
          />
        </div>
      </Choices>
    </PostForm>
  </Layout>
)
