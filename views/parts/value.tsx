import { Name } from './name.tsx'

/** A value with the unit of its keg, if there is one. No line breaks between the two. */
export const Value = (props: { readonly value: number | string; readonly unit: string | null }): JSX.Element =>
  props.unit === null ? (
    <span safe>{String(props.value)}</span>
  ) : (
    <span class="unbroken">
      <span safe>{String(props.value)}</span> <Name class="unit" text={props.unit} />
    </span>
  )

/** With a space that does not break. */
export const valueText = (value: number | string, unit: string | null): string =>
  unit === null ? String(value) : `${value}\u00a0${unit}`
