import { Layout } from '../frame/layout.tsx'
import { Csrf, FormFault, TextField } from '../parts/field.tsx'
import { paths } from '../paths.ts'
import type { Form, NewCellarField, Shell } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

export const NewCellarPage = (props: { readonly shell: Shell; readonly form: Form<NewCellarField> }): JSX.Element => (
  <Layout shell={props.shell} title="Create cellar" section="cellars" narrow>
    <Breadcrumbs cellar={null} />
    <h1>Create cellar</h1>
    <form method="post" action={paths.cellars} class="card">
      <Csrf token={props.shell.csrf} />
      <FormFault fault={props.form.faults.form} />
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
      <div class="form-end">
        <button type="submit">Create cellar</button>
        <a href={paths.cellars}>Cancel</a>
      </div>
    </form>
  </Layout>
)
