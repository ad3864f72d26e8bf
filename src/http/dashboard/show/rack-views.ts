import type { KegQuery, RackPageView } from '../../../../views/kegs/keg-types.ts'
import { rackKeysMax } from '../../../../views/log/log-types.ts'
import { answerOf } from '../../../actors/ask/answer-of.ts'
import type { PlaceInLog } from '../../../actors/search/events-at.ts'
import type { Charts, ShownKeg } from '../../../derived/readings/shown-kegs.ts'
import { anyEvent } from '../../../domain/search/event-filter.ts'
import { keysThatSent } from '../ask/keys-that-sent.ts'
import { lastRefusalsOf } from '../ask/refusals-shown.ts'
import type { DashboardDeps } from '../visit.ts'
import { unitIn } from './cellar-views.ts'
import { chartRange } from './keg-query.ts'
import { type Asker, chartViews } from './keg-views.ts'
import { stateOf, stateWithout } from './reading-views.ts'

/** One question draws no more. */
export const kegsPerRackPageMax = 32
/** Small charts need fewer points than large ones. */
const smallChartStepsMax = 150

export type RackAsked = {
  readonly cellar: string
  readonly rack: string
  readonly range: Pick<KegQuery, 'range' | 'from' | 'to' | 'isPaused'>
  readonly page: number
}

/** `null`: no keg of the rack is known. */
export const rackPageOf = async (deps: DashboardDeps, asked: RackAsked, asker: Asker): Promise<RackPageView | null> => {
  const { core } = deps
  const { cellar, rack, page } = asked
  const { nowMs, owner, signal } = asker
  const query: KegQuery = {
    ...asked.range,
    with: [],
    isOwnScale: true,
    find: '',
    table: 0,
  }
  const { fromMs, toMs, isOpen, faults } = chartRange(query, nowMs)
  const sorted = { sort: 'name', isReversed: false, silentFirst: false } as const
  const wanted = { cellar, rack, words: [], ...sorted, page, perPage: kegsPerRackPageMax, nowMs }
  const told = await core.questions.ask('cellarReadings', wanted, { owner, signal })
  const shown = { rack, query: { ...query, isOwnScale: false }, faults, isOpen }
  const none = { summary: null, kegs: [], page: 1, pages: 1, keptFromMs: null, keys: [], refusals: [] }
  if (told.kind !== 'answered') return { ...shown, ...none, state: stateWithout(told.kind) }
  const { kegs, racks } = told.answer
  if (kegs.all === 0) return told.isBehind ? { ...shown, ...none, state: { kind: 'behind', asOfMs: null } } : null
  const names = kegs.kegs.map(({ keg }) => ({ rack, keg }))
  const drawn = await core.questions.ask(
    'kegChart',
    { cellar, kegs: names, fromMs, toMs, stepsMax: smallChartStepsMax },
    { owner, signal, isAtOnce: true },
  )
  const charts =
    drawn.kind === 'answered' ? chartViews(deps, withoutSingles(drawn.answer), { cellar, query, nowMs }) : []
  const chartOf = ({ keg }: ShownKeg) => charts.find(({ series }) => series[0]?.keg === keg) ?? null
  const read = async (places: readonly PlaceInLog[]) =>
    answerOf(await core.questions.ask('eventsAt', places, { owner, isAtOnce: true }))
  return {
    ...shown,
    summary: racks[0] ?? null,
    kegs: kegs.kegs.map((keg) => ({
      keg: keg.keg,
      unit: unitIn(core, cellar, keg.keg),
      value: keg.latest.value,
      acceptedMs: keg.acceptedMs,
      isSilent: keg.isSilent,
      chart: chartOf(keg),
    })),
    page: kegs.page,
    pages: kegs.pages,
    keptFromMs: drawn.kind === 'answered' ? drawn.answer.keptFromMs : null,
    ...(await keysAndRefusals(deps, asked, asker)),
    state: await stateOf(told, read),
  }
}

/** Dots of single readings would fill a small chart. */
const withoutSingles = (charts: Charts): Charts => ({
  ...charts,
  kegs: charts.kegs.map((keg) => (keg === null ? null : { ...keg, readings: null })),
})

/** Its keys, and the last refusals of these. */
const keysAndRefusals = async (
  { core }: DashboardDeps,
  { cellar, rack }: RackAsked,
  { owner }: Asker,
): Promise<Pick<RackPageView, 'keys' | 'refusals'>> => {
  const sent = (await keysThatSent({ core, owner }, { cellar, rack }))?.slice(0, rackKeysMax)
  if (sent === undefined) return { keys: null, refusals: [] }
  const keys = sent.map((key) => ({ ...key, label: core.projections.keys.get(key.keyId)?.label ?? key.keyId }))
  const ofRack = { name: rack, keys: sent.map(({ keyId }) => keyId) }
  const filter = { ...anyEvent, kind: 'refusals', cellar, rack: ofRack } as const
  return { keys, refusals: await lastRefusalsOf({ core, owner }, filter) }
}
