import { expect, test } from 'bun:test'
import {
  changeKeys,
  isRefused,
  type KeyAnswer,
  type KeysToChange,
  keysChangedAtOnceMax,
} from '../../../src/actors/key/change-keys.ts'
import { asker, Cluster, makeTestKey, type TestNode, typesOf } from '../../support/two-nodes.ts'

const withKeys = async (count: number) => {
  const cluster = new Cluster()
  const node = await cluster.open()
  const keyIds: string[] = []
  for (let made = 0; made < count; made += 1) keyIds.push(await makeTestKey(node))
  return { cluster, node, keyIds }
}

const changed = (
  { core, schedule }: TestNode,
  what: KeysToChange,
  mayGoOn: (answers: readonly KeyAnswer[]) => boolean = () => true,
): Promise<readonly KeyAnswer[]> => {
  const collect = async (): Promise<readonly KeyAnswer[]> => {
    const answers: KeyAnswer[] = []
    const requests = { asker: { ...asker, requestId: 'several' }, mayGoOn: () => mayGoOn(answers) }
    for await (const answer of changeKeys(core, what, requests)) answers.push(answer)
    return answers
  }
  return schedule.until(collect())
}

const suspend = { do: 'suspend', reason: 'audit' } as const
const wordOf = (answer: KeyAnswer): string =>
  isRefused(answer) ? answer.refused.refusal.kind : answer.isChanged ? 'changed' : 'same'
const wordsOf = (answers: readonly KeyAnswer[]) => Object.fromEntries(answers.map((one) => [one.keyId, wordOf(one)]))

test('changeKeys() changes each key by its own event, with one request id for all', async () => {
  const { cluster, node, keyIds } = await withKeys(20)
  const [revoked = '', suspended = ''] = keyIds
  await node.schedule.until(node.core.keys.revoke(revoked, '', asker))
  await node.schedule.until(node.core.keys.suspend(suspended, '', asker))
  const answers = await changed(node, { keyIds: [...keyIds, 'nobody00'], change: suspend })
  expect(wordsOf(answers)).toEqual({
    ...Object.fromEntries(keyIds.map((keyId) => [keyId, 'changed'])),
    [revoked]: 'key_is_revoked',
    [suspended]: 'same',
    nobody00: 'key_not_found',
  })
  const events = (await cluster.all()).filter(({ metadata }) => metadata.requestId === 'several')
  expect(typesOf(events).filter((type) => type === 'KeySuspended')).toHaveLength(18)
  expect(new Set((await cluster.all()).map(({ id }) => id)).size).toBe((await cluster.all()).length)
  expect(node.bugs).toEqual([])
})

test('changeKeys() has a few keys under way, and begins no more when told so', async () => {
  const { node, keyIds } = await withKeys(30)
  const answers = await changed(node, { keyIds, change: { do: 'revoke', reason: '' } }, (known) => known.length === 0)
  expect(answers).toHaveLength(keysChangedAtOnceMax)
  expect(keyIds.filter((keyId) => node.core.projections.keys.get(keyId)?.revoked != null)).toHaveLength(
    keysChangedAtOnceMax,
  )
})

test('changeKeys() ends when the log fails, and leaves the other keys as they are', async () => {
  const { node, keyIds } = await withKeys(30)
  node.faults.failAppend({ fault: 'not_written', nth: 1 })
  const answers = await changed(node, { keyIds, change: suspend })
  expect(answers.map(wordOf)).toContain('store_unavailable')
  expect(answers.length).toBeLessThan(2 * keysChangedAtOnceMax)
  const suspended = keyIds.filter((keyId) => node.core.projections.keys.get(keyId)?.suspended != null)
  expect(suspended).toHaveLength(answers.length - 1)
})

test('changeKeys() rotates keys and hands out each new key', async () => {
  const { node, keyIds } = await withKeys(3)
  const answers = await changed(node, { keyIds, change: { do: 'rotate', overlapMs: 3_600_000 } })
  const made = answers.flatMap((answer) => (isRefused(answer) ? [] : [answer]))
  expect(made.map(({ keyId, state }) => [keyId, state.predecessorId])).toEqual(made.map(({ keyId }) => [keyId, keyId]))
  expect(new Set(made.map(({ rotated }) => rotated?.key)).size).toBe(3)
  const past = await changed(node, { keyIds, change: { do: 'change', changes: { expiresAt: 1, label: 'x' } } })
  expect(past.map(wordOf)).toEqual(keyIds.map(() => 'expiry_in_past'))
})

test('changeKeys() retires no key without a new key in use', async () => {
  const { node, keyIds } = await withKeys(2)
  await changed(node, { keyIds: keyIds.slice(0, 1), change: { do: 'rotate', overlapMs: 3_600_000 } })
  const answers = await changed(node, { keyIds, change: { do: 'retire' } })
  expect(answers.map(wordOf)).toEqual(['same', 'same'])
  expect(keyIds.map((keyId) => node.core.projections.keys.get(keyId)?.expiresAt)).toEqual([null, null])
})
