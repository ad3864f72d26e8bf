import { stateAtInstant } from '../actors/search/event-context.ts'
import type { SearchReads } from '../derived/questions/question.ts'
import type { CellarState } from '../domain/cellar.ts'
import type { KeyState } from '../domain/key.ts'
import { cellarStream, keyStream } from '../domain/stream-names.ts'
import { logSearchMs } from '../limits.ts'

export type ThenWanted = { readonly cellar: string; readonly keyIds: readonly string[]; readonly atMs: number }

export type CellarThen = {
  readonly cellar: CellarState | null
  readonly isKnown: boolean
  /** In the order of `keyIds`. `null`: not known. */
  readonly keys: readonly (KeyState | null)[]
  readonly isCutOff: boolean
}

/** After `logSearchMs`, reads no further key. */
export const cellarThen = async (
  { log, passedMs }: SearchReads,
  { cellar, keyIds, atMs }: ThenWanted,
): Promise<CellarThen> => {
  const beganMs = passedMs()
  const isOver = (): boolean => passedMs() - beganMs >= logSearchMs
  const then = await stateAtInstant(log, cellarStream(cellar), atMs)
  const keys: CellarThen['keys'][number][] = []
  for (const keyId of keyIds) keys.push((await stateAtInstant(log, keyStream(keyId), atMs, isOver)).key)
  return { cellar: then.cellar, isKnown: then.isKnown, keys, isCutOff: isOver() }
}
