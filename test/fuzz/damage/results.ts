/** Counts the verdicts of trials, and lists those that fail. */
import type { Verdict } from './judge.ts'
import { kindsOfDamage, type Trial } from './trial.ts'

const passing: readonly Verdict['kind'][] = ['right', 'told', 'partly told', 'checked']
export const isPassing = ({ kind }: Verdict): boolean => passing.includes(kind)

const verdicts = [...passing, 'late', 'vague', 'silent', 'bug'] as const

export class Results {
  readonly failed: string[] = []
  readonly #counts = new Map(kindsOfDamage.map((kind) => [kind, new Map<(typeof verdicts)[number], number>()]))

  add({ seed, moment, kind, what }: Trial, judged: Verdict): void {
    const { kind: verdict, words } = judged
    const counts = this.#counts.get(kind)
    counts?.set(verdict, (counts.get(verdict) ?? 0) + 1)
    if (isPassing(judged)) return
    const title = `DAMAGE_SEED=${seed} DAMAGE_TRIALS=1: ${moment} folder, ${what}`
    this.failed.push([`${verdict}: ${title}`, ...words.slice(0, 3)].join('\n    '))
  }

  /** A line for each kind of damage. */
  table(): string {
    const rows = [...this.#counts].map(([kind, counts]) => {
      const cells = verdicts.flatMap((verdict) => (counts.has(verdict) ? [`${counts.get(verdict)} ${verdict}`] : []))
      return `${kind}: ${cells.length === 0 ? 'none' : cells.join(', ')}`
    })
    return rows.join('\n')
  }
}
