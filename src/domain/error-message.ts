/** JavaScript can throw any value, so a caught value may not be an `Error`. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
