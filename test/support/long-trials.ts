/**
 * How often a trial is repeated: `usual` times by default, `long` times with `LONG_TRIALS=1`, which
 * `.ci/run` sets.
 */
export const timesToTry = (usual: number, long: number): number => (areTrialsLong ? long : usual)

export const areTrialsLong = process.env['LONG_TRIALS'] === '1'
