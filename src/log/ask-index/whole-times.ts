/** Minutes since 1970, rounded down. */
export const minuteOf = (ms: number): number => Math.floor(ms / 60_000)

/** Hours since 1970, rounded down. */
export const hourOf = (ms: number): number => Math.floor(ms / 3_600_000)
