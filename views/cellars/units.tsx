import { Layout } from '../frame/layout.tsx'
import { Csrf, PostForm, TextField } from '../parts/field.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { CellarView, EditForm, Shell, UnitField } from '../types.ts'
import { Breadcrumbs } from './cellar-frame.tsx'

export const UnitsCard = (props: {
  readonly title: string
  readonly cellar: CellarView
  /** Of an admin, who can change the units. */
  readonly csrf: string | null
}): JSX.Element => {
  const { cellar, csrf } = props
  return (
    <section class="card" aria-labelledby="units-title">
      <h2 id="units-title" safe>
        {props.title}
      </h2>
      {cellar.units.size === 0 ? (
        <p class="quiet">No keg has a unit. Its values are shown as plain numbers.</p>
      ) : (
        <UnitTable cellar={cellar} csrf={csrf} />
      )}
      {csrf === null ? null : (
        <a class="action" href={paths.unit(cellar.cellar)}>
          Give a unit
        </a>
      )}
    </section>
  )
}

const UnitTable = (props: { readonly cellar: CellarView; readonly csrf: string | null }): JSX.Element => (
  <table class="units">
    <thead>
      <tr>
        <th scope="col">Keg</th>
        <th scope="col">Unit</th>
        {props.csrf === null ? null : (
          <th scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        )}
      </tr>
    </thead>
    <tbody>
      {[...props.cellar.units].map(([keg, unit]) => (
        <tr>
          <th scope="row">
            <Name text={keg} />
          </th>
          <td>
            <Name text={unit} />
          </td>
          {props.csrf === null ? null : (
            <td class="actions">
              <UnitActions cellar={props.cellar.cellar} keg={keg} csrf={props.csrf} />
            </td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
)

const UnitActions = (props: { readonly cellar: string; readonly keg: string; readonly csrf: string }): JSX.Element => {
  const { cellar, keg } = props
  return (
    <form method="post" action={paths.unit(cellar)} class="row-actions">
      <Csrf token={props.csrf} />
      <input type="hidden" name="keg" value={attribute(keg)} />
      <a class="action" href={attribute(paths.unit(cellar, { keg }))}>
        Change
        <Name class="visually-hidden" text={` the unit of ${keg}`} />
      </a>
      <button type="submit" class="plain">
        Remove
        <Name class="visually-hidden" text={` the unit of ${keg}`} />
      </button>
    </form>
  )
}

/** On the page of a keg. */
export const UnitOfKeg = (props: {
  readonly cellar: string
  readonly rack: string
  readonly keg: string
  readonly unit: string | null
  readonly isAdmin: boolean
}): JSX.Element => {
  const { cellar, rack, keg, unit } = props
  return (
    <section class="card" aria-labelledby="unit-title">
      <h2 id="unit-title">Unit</h2>
      <p>
        {unit === null ? (
          'None'
        ) : (
          <b>
            <Name text={unit} />
          </b>
        )}
        , for every “
        <Name text={keg} />” of this cellar.{' '}
        {props.isAdmin ? <a href={attribute(paths.unit(cellar, { rack, keg }))}>Change</a> : null}
      </p>
    </section>
  )
}

/** Also offered to people whose keyboard has no degree sign. */
const usualUnits = [
  '°C',
  '°F',
  '%',
  'bar',
  'hPa',
  'kPa',
  'g/L',
  'mg/L',
  'ppm',
  'pH',
  'L',
  'L/min',
  'm³',
  'kg',
  'V',
  'A',
  'W',
  'kWh',
  'lx',
  'rpm',
]

export const UnitPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  /** The page that led here was about a keg of this name. */
  readonly isKegGiven: boolean
  /** Where saving and cancelling lead: to the page of this rack's keg, or to the settings (blank). */
  readonly rack: string
  readonly form: EditForm<UnitField>
  readonly cancel: string
}): JSX.Element => {
  const { cellar, form } = props
  const { keg } = form.values
  return (
    <Layout shell={props.shell} title={`Unit · ${cellar.title}`} section="cellars" narrow>
      <Breadcrumbs cellar={cellar} tab="settings" />
      <h1>
        {props.isKegGiven ? (
          <>
            Unit of <Name text={keg} />
          </>
        ) : (
          'Give a unit'
        )}
      </h1>
      <PostForm
        action={paths.unit(cellar.cellar)}
        csrf={props.shell.csrf}
        form={form}
        button="Save unit"
        cancel={attribute(props.cancel)}
      >
        <input type="hidden" name="rack" value={attribute(props.rack)} />
        {props.isKegGiven ? (
          <input type="hidden" name="keg" value={attribute(keg)} />
        ) : (
          <TextField
            form={form}
            name="keg"
            label="Keg"
            hint="As the devices send it, for example temperature. It is case-sensitive."
            isExact
            required
            autofocus
          />
        )}
        <TextField
          form={form}
          name="unit"
          label="Unit"
          hint="For example °C, % or bar. At most 16 characters. Leave blank for no unit."
          list="usual-units"
          isExact
          isQuiet
          autofocus={props.isKegGiven}
        />
        <datalist id="usual-units">
          {usualUnits.map((unit) => (
            <option value={unit}></option>
          ))}
        </datalist>
        <p class="hint">
          All kegs of this name in this cellar get the unit. It is shown beside earlier values too. No value is
          converted.
        </p>
      </PostForm>
    </Layout>
  )
}
