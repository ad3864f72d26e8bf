import type { KeyLoads } from '../../log/ask-index.ts'

export type KeyLoad = { readonly keyId: string; readonly busiest: number; readonly refusedToday: number }

/** One by one, so that the caller can give way between thousands of keys. */
export function* eachLoad({ keyIds, busiest, refusedToday }: KeyLoads): Generator<KeyLoad> {
  let from = 0
  for (const [at, most] of busiest.entries()) {
    const end = keyIds.indexOf('\n', from)
    const keyId = keyIds.slice(from, end < 0 ? undefined : end)
    from = end + 1
    yield { keyId, busiest: most, refusedToday: refusedToday[at] ?? 0 }
  }
}
