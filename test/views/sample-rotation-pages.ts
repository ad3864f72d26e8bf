import { ConfirmPage } from '../../views/keys/key-confirm.tsx'
import { KeyPage } from '../../views/keys/key-page.tsx'
import { KeepKeyPage } from '../../views/keys/rotation/key-keep.tsx'
import type { RacksView, RotationView } from '../../views/keys/rotation/rotation-types.ts'
import type { CellarView, HistoryView, KeyView, Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'

const minute = 60_000
const day = 24 * 60 * minute

export const sampleRacks = (texts: Texts, nowMs: number): RacksView => ({
  shown: [
    { rack: texts('rack'), state: 'old', oldMs: nowMs - minute, newMs: null },
    { rack: 'rack-03', state: 'both', oldMs: nowMs - minute, newMs: nowMs - minute },
    { rack: 'rack-04', state: 'silent', oldMs: nowMs - 9 * day, newMs: null },
    { rack: 'rack-05', state: 'switched', oldMs: nowMs - 90 * minute, newMs: nowMs - minute },
    { rack: 'rack-06', state: 'new', oldMs: null, newMs: nowMs - 2 * minute },
  ],
  counts: { all: 5, old: 1, both: 1, silent: 1, switched: 2, new: 1 },
  withNext: 4,
  silentDays: 7,
  seenFromMs: null,
  lastCompared: null,
})

type Parts = {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly history: HistoryView
}

export const rotationCardPages = (texts: Texts, { shell, cellar, apiKey, history }: Parts): readonly Page[] => {
  const { nowMs } = shell
  const racks = sampleRacks(texts, nowMs)
  const successor = {
    keyId: '4fGh7kLm',
    label: texts('label'),
    awaitedId: '4fGh7kLm',
    overlapMs: day,
    usedAt: nowMs - 100 * minute,
    isOpen: true,
    newStatus: 'active',
  } as const
  const old = {
    keyId: apiKey.keyId,
    cellar: texts('cellar'),
    status: 'active',
    expiresAt: nowMs + 22 * 3_600_000,
  } as const
  const rotation: RotationView = { old, successor, racks }
  const none: RacksView = { ...racks, shown: [], counts: { all: 0, old: 0, both: 0, silent: 0, switched: 0, new: 0 } }
  const rotations: readonly (readonly [name: string, rotation: RotationView])[] = [
    ['ending', rotation],
    ['incomplete', { ...rotation, racks: { ...racks, seenFromMs: nowMs - 20 * day, lastCompared: texts('rack') } }],
    ['unused', { ...rotation, successor: { ...successor, usedAt: null }, racks: none }],
    ['new-key-revoked', { ...rotation, successor: { ...successor, newStatus: 'revoked' } }],
    ['suspended', { ...rotation, old: { ...old, status: 'suspended' } }],
    ['without-end', { ...rotation, old: { ...old, expiresAt: null } }],
    [
      'ended',
      {
        ...rotation,
        successor: { ...successor, isOpen: false },
        old: { ...old, status: 'expired', expiresAt: nowMs - minute },
        racks: {
          ...racks,
          shown: racks.shown.slice(3),
          counts: { all: 2, old: 0, both: 0, silent: 0, switched: 1, new: 1 },
        },
      },
    ],
    ['not-known', { ...rotation, racks: null }],
  ]
  const keys = (['expired', 'active', 'suspended', 'revoked'] as const).map((status, at) => ({
    keyId: at === 1 ? apiKey.keyId : `2wXy5zA${at}`,
    status,
    createdAt: nowMs - (9 - at) * day,
  }))
  const chain = { keys, earlier: 2, later: 1 }
  const asked = { shell, cellar, isExpired: false, form: { values: { reason: '' }, faults: {} } }
  const revoke = (of: RotationView) =>
    ConfirmPage({ ...asked, apiKey: { ...apiKey, keyId: successor.keyId }, action: 'revoke', rotations: [of] })
  const retire = (of: RotationView, faults = {}) =>
    ConfirmPage({ ...asked, apiKey, action: 'retire', rotations: [of], form: { ...asked.form, faults } })
  const kept = { shell, cellar, apiKey, rotation }
  const ends = [
    { end: nowMs + day, addedMs: day },
    { end: null, addedMs: 0 },
  ]
  return [
    ...rotations.flatMap(([name, shown]) => [
      {
        name: `key-rotation-${name}`,
        html: KeyPage({
          ...{ shell, cellar, apiKey, history, stateAt: null, refusals: [], position: null },
          rotated: { rotations: [shown], chain: name === 'ending' ? chain : null },
        }),
      },
      { name: `confirm-revoke-new-key-${name}`, html: revoke(shown) },
      { name: `retire-key-${name}`, html: retire(shown) },
    ]),
    { name: 'retire-key-refused', html: retire(rotation, { form: texts('fault') }) },
    {
      name: 'keep-key',
      html: KeepKeyPage({ ...kept, ends, form: { values: { end: String(nowMs + day) }, faults: {} } }),
    },
    {
      name: 'keep-key-refused',
      html: KeepKeyPage({
        ...kept,
        ends,
        form: { values: { end: texts('typed') }, faults: { end: texts('fault'), form: texts('fault') } },
      }),
    },
  ]
}
