/** JavaScript can throw any value, so a caught value may be no `Error`. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
