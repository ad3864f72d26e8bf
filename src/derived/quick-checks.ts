import { checkDelayMs, checkEveryMs } from '../limits.ts'
import type { Schedule } from '../schedule.ts'
import { WorkerThread } from '../worker-thread.ts'
import type { DerivedStore } from './derived-store.ts'

export type ToQuickCheck = { readonly dataDir: string; readonly models: readonly string[] }
export type QuickChecked = { readonly model: string; readonly damage: string | null }

type QuickCheckParts = ToQuickCheck & {
  readonly store: Pick<DerivedStore, 'opening' | 'rebuild'>
  readonly schedule: Schedule
}

/**
 * Soon after the start, then once a day. A check reads a whole file in one piece, so it has a thread of its own. The
 * returned function ends the checks.
 */
export const startQuickChecks = ({ store, schedule, dataDir, models }: QuickCheckParts): (() => void) => {
  let thread: WorkerThread<ToQuickCheck, QuickChecked> | null = null
  const check = (): void => {
    forget = schedule.after(checkEveryMs, check)
    thread?.end()
    const openings = new Map(models.map((model) => [model, store.opening(model)]))
    let left = models.length
    thread = new WorkerThread({
      module: new URL('./quick-check-thread.ts', import.meta.url),
      hasSmallHeap: true,
      onMessage: ({ model, damage }) => {
        const opening = openings.get(model) ?? null
        if (damage !== null && opening !== null) store.rebuild(model, opening, damage)
        left -= 1
        if (left === 0) thread?.end()
      },
      onFault: () => thread?.end(),
    })
    thread.post({ dataDir, models })
  }
  let forget = schedule.after(checkDelayMs, check)
  return () => {
    forget()
    thread?.end()
  }
}
