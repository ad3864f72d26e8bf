import type { CellarThen, KeyRowThen } from '../../../../views/types.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { Core } from '../../../actors/core-interface.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { keyStatus } from '../../../domain/key-refusal.ts'
import { pageOf } from '../../../domain/search/page-of-list.ts'
import { cellarView } from './cellar-views.ts'

/** The page reads the stream of each key, so it has fewer rows than the list of now. */
export const keysThenPerPageMax = 50

type Asked = { readonly at: number; readonly page: number; readonly owner: string }

export const cellarThen = async (
  core: Core,
  { cellar }: CellarState,
  { at, page: asked, owner }: Asked,
): Promise<CellarThen> => {
  const existing = core.projections.keys.ofCellar(cellar).filter(({ created }) => created.at <= at)
  const { shown, page, pages } = pageOf(existing, asked, keysThenPerPageMax)
  const wanted = { cellar, keyIds: shown.map(({ keyId }) => keyId), atMs: at }
  const then = answerOf(await core.questions.ask('cellarThen', wanted, { owner, isAtOnce: true }))
  const keys = shown.map(({ keyId }, index): KeyRowThen => {
    const key = then.keys[index] ?? null
    return { keyId, state: key === null ? null : factsThen(core, key, at) }
  })
  const view = then.cellar === null ? null : cellarView(then.cellar)
  return { at, cellar: view, isKnown: then.isKnown, keys, isCutOff: then.isCutOff, all: existing.length, page, pages }
}

/** A seal alone revokes a key, because a node can die before it writes the revocation. */
const factsThen = ({ projections }: Core, key: KeyState, at: number): KeyRowThen['state'] => {
  const isSealed = projections.readings
    .barriers(key.keyId)
    .some(({ type, recordedAt }) => type === 'ReadingsSealed' && recordedAt <= at)
  const { label, limit, expiresAt } = key
  return { label, status: keyStatus(key, at, isSealed), ownLimit: limit, expiresAt }
}
