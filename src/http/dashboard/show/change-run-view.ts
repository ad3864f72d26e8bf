import { addressKeysMax, type ChangeRunView } from '../../../../views/keys/several/several-types.ts'
import { paths } from '../../../../views/paths.ts'
import { commandProblemOf } from '../../command-problem.ts'
import type { ChangeRun } from '../forms/change-runs.ts'
import type { DashboardDeps } from '../visit.ts'
import { backOf, changeIn } from './keys-chosen.ts'

const listedMax = 100

export const changeRunView = (deps: DashboardDeps, run: ChangeRun): ChangeRunView => {
  const query = new URLSearchParams(run.query)
  const named = (keyId: string) => ({ keyId, label: deps.core.projections.keys.get(keyId)?.label ?? keyId })
  const left = run.ended === null ? [] : [...run.keyIds, ...run.came].filter((keyId) => !run.tried.has(keyId))
  const { refused, tried, same } = run
  return {
    id: run.id,
    change: changeIn(query) ?? 'suspend',
    count: run.keyIds.length,
    changed: tried.size - refused.length - same,
    same,
    gone: run.gone,
    refused: refused.slice(0, listedMax).map(({ keyId, refused: { refusal } }) => ({
      ...named(keyId),
      why: commandProblemOf(refusal).text,
    })),
    refusedCount: refused.length,
    left: left.slice(0, listedMax).map(named),
    leftCount: left.length,
    ended: run.ended,
    newKeys: run.newKeys.length,
    newKeysEnd: run.newKeysEnd,
    rest: addressOf(query, left),
    again: run.keyIds.length <= addressKeysMax ? addressOf(query, run.keyIds) : null,
    back: backOf(query),
  }
}

/** Names the keys, because the filter can find others by now: for instance the new keys of a rotation. */
const addressOf = (query: URLSearchParams, keyIds: readonly string[]): string => {
  const named = new URLSearchParams(query)
  for (const name of ['all', 'key']) named.delete(name)
  for (const keyId of keyIds.slice(0, addressKeysMax)) named.append('key', keyId)
  return `${paths.changeKeys}?${named}`
}
