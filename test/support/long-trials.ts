/** How often a trial is repeated: `usual` for a person who waits, `long` if `LONG_TRIALS=1`, as `.ci/run` sets it. */
export const timesToTry = (usual: number, long: number): number => (areTrialsLong ? long : usual)

export const areTrialsLong = process.env['LONG_TRIALS'] === '1'
