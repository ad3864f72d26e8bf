import { deviceProblems, problemOf } from '../../problem.ts'

export const statusOfCode = (code: string): number | null => {
  if (code.startsWith('KEY_')) return problemOf({ kind: 'key_missing' }).status
  const found = Object.entries(deviceProblems).find(([kind]) => kind.toUpperCase() === code)
  return found === undefined ? null : found[1].status
}
