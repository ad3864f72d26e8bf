/** JavaScript can throw any value, so a caught value is not always an `Error`. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
