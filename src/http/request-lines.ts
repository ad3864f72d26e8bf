/** What a request leaves in the log lines: names, numbers and codes, never a header, a body or a key. */
export type RequestLines = {
  info(what: string, facts: { readonly [name: string]: string | number | null }): void
  error(what: string, facts: { readonly [name: string]: string | number | null | Error }): void
}

/** Whatever was thrown, as an Error that can be logged. */
export const thrownError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
