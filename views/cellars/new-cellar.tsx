import { Layout } from '../frame/layout.tsx'
import { PostForm, TextField } from '../parts/field.tsx'
import { paths } from '../paths.ts'
import type { Form, NewCellarField, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

export const NewCellarPage = (props: { readonly shell: Shell; readonly form: Form<NewCellarField> }): JSX.Element => (
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
      <TextField
        form={props.form}
        name="title"
        label="Title"
        hint="The dashboard shows this name. You can change it at any time. Default: the identifier."
        placeholder="Wine cellar, Berlin"
      />
    </PostForm>
  </Layout>
)
