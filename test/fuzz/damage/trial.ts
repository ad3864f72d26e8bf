/** One trial: a copy of a folder, with one damage that its seed decides. */
import { join } from 'node:path'
import { seededNumbers } from '../../support/seeded-entropy.ts'
import { type Chance, type Damaged, fileDamages, pick } from './file-damage.ts'
import { type MadeFolders, type Moment, writeFiles } from './made-folders.ts'
import { damageBySql, sqlDamages } from './sql-damage.ts'

export type Trial = {
  readonly seed: number
  readonly moment: Moment
  readonly kind: string
  /** What was damaged, and where. */
  readonly what: string
  readonly dataDir: string
}

export const kindsOfDamage: readonly string[] = [...Object.keys(fileDamages), ...Object.keys(sqlDamages)]

/** Some damages do not fit a file. Then the next numbers of the same seed decide. */
export const damagedCopy = (made: MadeFolders, parent: string, seed: number): Trial => {
  const next = seededNumbers(seed)
  for (let tries = 0; ; tries += 1) {
    const moment = next() % 2 === 0 ? 'killed' : 'closed'
    const kind = pick(kindsOfDamage, next)
    const dataDir = join(parent, `trial-${seed}-${tries}`)
    const what = damageCopy({ made, moment, kind, dataDir }, next)
    if (what !== null) return { seed, moment, kind, what, dataDir }
  }
}

type Copy = { readonly made: MadeFolders; readonly moment: Moment; readonly kind: string; readonly dataDir: string }

const damageCopy = ({ made, moment, kind, dataDir }: Copy, next: Chance): string | null => {
  const files = made.files[moment]
  const damage = fileDamages[kind]
  if (damage === undefined) {
    writeFiles(dataDir, files)
    return damageBySql(dataDir, kind, next)
  }
  const older = made.files[next() % 2 === 0 ? 'older killed' : 'older closed']
  const damaged: Damaged | null = damage(files, older, next)
  if (damaged === null) return null
  writeFiles(dataDir, damaged.files)
  return damaged.what
}
