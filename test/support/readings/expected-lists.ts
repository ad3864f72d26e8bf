import type { ShownKeg, ShownRack } from '../../../src/derived/readings/shown-kegs.ts'
import { orderKey } from '../../../src/domain/search/order-key.ts'
import { meanOf } from './expected-charts.ts'
import { type Accepted, arrivalsOf, byTime, type Folded } from './expected-readings.ts'

const halfHourMs = 1_800_000
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

type Named = { readonly rack: string; readonly keg: string }

type Listed = Named &
  Pick<ShownKeg, 'acceptedMs' | 'pauseMs' | 'isSilent' | 'day'> & { readonly position: number; readonly value: number }

/** Computes from the readings of a cellar what a list must say of each keg. */
export const expectedKegs = (
  readings: readonly Folded[],
  acceptedOf: ReadonlyMap<string, Accepted>,
  nowMs: number,
): readonly Listed[] =>
  [...Map.groupBy(readings, ({ keg }) => keg)].map(([keg, ofKeg]) => {
    const sorted = ofKeg.toSorted(byTime)
    const { accepted, pause, judged } = arrivalsOf(acceptedOf.get(keg))
    const silentMs = judged === null ? dayMs : Math.max(minuteMs, Math.min(10 * judged, dayMs), 2 * judged)
    const lastHalf = Math.floor(nowMs / halfHourMs)
    return {
      rack: ofKeg[0]?.rack ?? '',
      keg: ofKeg[0]?.name ?? '',
      position: sorted.at(-1)?.position ?? 0,
      value: sorted.at(-1)?.value ?? 0,
      acceptedMs: accepted,
      pauseMs: pause,
      isSilent: nowMs - accepted > silentMs,
      day: Array.from({ length: 48 }, (_, index) =>
        meanOf(ofKeg.filter(({ ms }) => Math.floor(ms / halfHourMs) === lastHalf - 47 + index)),
      ),
    }
  })

export const byName = (a: Named, b: Named): number =>
  compare(orderKey(a.rack), orderKey(b.rack)) || compare(orderKey(a.keg), orderKey(b.keg))

/** SQLite compares bytes. */
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

export const expectedRacks = (kegs: readonly Listed[]): readonly ShownRack[] =>
  [...Map.groupBy(kegs.toSorted(byName), ({ rack }) => rack)].map(([rack, ofRack]) => ({
    rack,
    kegs: ofRack.length,
    silent: ofRack.filter(({ isSilent }) => isSilent).length,
    acceptedMs: Math.max(...ofRack.map(({ acceptedMs }) => acceptedMs)),
  }))
