/** JavaScript can throw any value. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

export const thrownError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))

export const isSystemError = (cause: unknown): cause is Error & { readonly code: unknown } =>
  cause instanceof Error && 'code' in cause && 'syscall' in cause
