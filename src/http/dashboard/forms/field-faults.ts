/** A sentence for each field that was refused, by the field's name. */
export type Faults = Readonly<Record<string, string>>

export const noFaults: Faults = {}

/** A fault at something that the form has no field for is shown as the whole form's: none goes unsaid. */
export const placedFaults = (values: Readonly<Record<string, string>>, faults: Faults): Faults => {
  const elsewhere = Object.entries(faults).find(([field]) => field !== 'form' && !Object.hasOwn(values, field))
  return elsewhere === undefined ? faults : { ...faults, form: elsewhere[1] }
}
