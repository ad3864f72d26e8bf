import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** By its path in the repository. In the executable, Bun keeps all files of `deploy/build.ts` in one folder. */
export const programFile = (path: string): Buffer =>
  readFileSync(join(import.meta.dir, Bun.isStandaloneExecutable ? basename(path) : `../../../${path}`))
