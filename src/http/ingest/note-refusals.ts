import type { ItemRefusal, ReadingRefusal, RejectedItem } from '../../domain/refusal.ts'
import { codeOf } from '../problem.ts'
import type { ApiCall, ApiDeps } from './api-call.ts'

export type RefusedCall = Pick<ApiCall, 'requestId' | 'names'> & { readonly key: ApiCall['key'] | null }

/** A refused batch also counts each of its readings by its code. */
export const noteRefused = (
  { core }: ApiDeps,
  { requestId, key, names }: RefusedCall,
  { code, refusal, atMs }: { readonly code: string; readonly refusal: ReadingRefusal; readonly atMs: number },
): void => {
  const keyId = key?.keyId ?? null
  core.refusals.note({ keyId, requestId, atMs, code, refusal, names, count: 1 })
  if (refusal.kind === 'batch_rejected') noteRejected(core, { requestId, keyId }, refusal.rejected)
}

/** Without names, which only a single reading has at hand. */
export const noteRejected = (
  core: ApiDeps['core'],
  { requestId, keyId }: { readonly requestId: string; readonly keyId: string | null },
  rejected: readonly RejectedItem[],
): void => {
  const counts = new Map<string, { readonly refusal: ItemRefusal; count: number }>()
  for (const { refusal } of rejected) {
    const known = counts.get(refusal.kind)
    if (known === undefined) counts.set(refusal.kind, { refusal, count: 1 })
    else known.count += 1
  }
  const atMs = core.clock.now()
  for (const { refusal, count } of counts.values()) {
    core.refusals.note({ keyId, requestId, atMs, code: codeOf(refusal.kind), refusal, names: null, count })
  }
}
