/** How often a trial is repeated: `usual` times by default, `long` times with `LONG_TRIALS=1` (test/README.md). */
export const timesToTry = (usual: number, long: number): number => (process.env['LONG_TRIALS'] === '1' ? long : usual)
