/** Counts the verdicts of trials, and lists those that fail. */
import type { Verdict } from './judge.ts'
import { kindsOfDamage, type Trial } from './trial.ts'

/** Damage that the service does not tell yet, with what it needs for that. Such trials are counted, and do not fail. */
const knownGaps: readonly { readonly verdict: Verdict['kind']; readonly what: RegExp; readonly needs: string }[] = []

const passing: readonly Verdict['kind'][] = ['right', 'told', 'partly told', 'checked']
export const isPassing = ({ kind }: Verdict): boolean => passing.includes(kind)

const verdicts = [...passing, 'late', 'vague', 'silent', 'bug', 'known gap'] as const

export class Results {
  readonly failed: string[] = []
  readonly #counts = new Map(kindsOfDamage.map((kind) => [kind, new Map<(typeof verdicts)[number], number>()]))
  readonly #gaps: string[] = []

  add({ seed, moment, kind, what }: Trial, judged: Verdict): void {
    const { kind: verdict, words } = judged
    const gap = knownGaps.find((known) => known.verdict === verdict && known.what.test(what))
    const counts = this.#counts.get(kind)
    const column = gap === undefined ? verdict : 'known gap'
    counts?.set(column, (counts.get(column) ?? 0) + 1)
    const title = `DAMAGE_SEED=${seed} DAMAGE_TRIALS=1: ${moment} folder, ${what}`
    if (gap !== undefined) this.#gaps.push(`${title}: needs ${gap.needs}`)
    else if (!isPassing(judged)) {
      this.failed.push([`${verdict}: ${title}`, ...words.slice(0, 3)].join('\n    '))
    }
  }

  /** A line for each kind of damage, and one for each known gap that was met. */
  table(): string {
    const rows = [...this.#counts].map(([kind, counts]) => {
      const cells = verdicts.flatMap((verdict) => (counts.has(verdict) ? [`${counts.get(verdict)} ${verdict}`] : []))
      return `${kind}: ${cells.length === 0 ? 'none' : cells.join(', ')}`
    })
    return [...rows, ...this.#gaps].join('\n')
  }
}
