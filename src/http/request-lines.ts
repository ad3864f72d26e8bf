/** What a request leaves in the log lines: names, numbers and codes, never a header, a body or a key. */
export type RequestLines = {
  debug(what: string, facts: { readonly [name: string]: string | number | null }): void
  info(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  warn(what: string, facts: { readonly [name: string]: string | number | null | Counts }): void
  error(what: string, facts: { readonly [name: string]: string | number | null | Error }): void
}

/** By a name, or a list with the largest first. */
type Counts = { readonly [name: string]: number } | readonly { readonly [name: string]: string | number }[]

/** Whatever was thrown, as an Error that can be logged. */
export const thrownError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
