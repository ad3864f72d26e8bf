import type { KegName, KegPageView, KegQuery, RangeName } from '../../../../views/kegs/keg-types.ts'
import { nameOfSegment } from '../../../../views/paths.ts'
import { dayMs, hourMs } from '../../../domain/calendar.ts'
import type { Visit } from '../visit.ts'
import { requestedPage } from './paging.ts'
import { typedRange } from './typed-instant.ts'

const kegQueryCharsMax = 300
const comparedKegsMax = 3
/** A chart of a longer time would have too many steps. */
const rangeDaysMax = 3 * 366

export const rangesMs: Readonly<Record<RangeName, number>> = {
  '1h': hourMs,
  '24h': dayMs,
  '7d': 7 * dayMs,
  '30d': 30 * dayMs,
  '1y': 365 * dayMs,
}

export const kegInPath = ({ params }: Visit): KegName => ({
  rack: nameOfSegment(params['rack'] ?? ''),
  keg: nameOfSegment(params['keg'] ?? ''),
})

export const kegQueryOf = (query: URLSearchParams, main: KegName): KegQuery => {
  const text = (name: string): string => [...(query.get(name) ?? '').trim()].slice(0, kegQueryCharsMax).join('')
  const range = Object.keys(rangesMs).find((name): name is RangeName => name === text('range'))
  return {
    range: range ?? '24h',
    from: text('from'),
    to: text('to'),
    with: comparedKegs(query.get('with') ?? '', main),
    isOwnScale: text('scale') === 'own',
    isPaused: text('live') === 'off',
    find: text('find'),
    table: query.has('table') ? requestedPage(new URLSearchParams({ page: text('table') })) : 0,
  }
}

/** Like `rack-07/temperature rack-08/temperature`, where each name is encoded. */
const comparedKegs = (text: string, main: KegName): readonly KegName[] => {
  const kegs: KegName[] = []
  for (const encoded of text.split(' ')) {
    const [rack, keg, ...rest] = encoded.split('/').map(decoded)
    if (rack === undefined || keg === undefined || rest.length > 0) continue
    const isKnown = [main, ...kegs].some((known) => known.rack === rack && known.keg === keg)
    if (!isKnown && kegs.length < comparedKegsMax) kegs.push({ rack, keg })
  }
  return kegs
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type ChartRange = {
  readonly fromMs: number
  readonly toMs: number
  /** Ends now, so new readings can come. */
  readonly isOpen: boolean
  readonly faults: KegPageView['faults']
}

/** Without a typed end, the end is now. Without a typed beginning, the range is a day long. */
export const chartRange = ({ range, from, to }: KegQuery, nowMs: number): ChartRange => {
  const usual = { fromMs: nowMs - rangesMs[range], toMs: nowMs, isOpen: true, faults: {} }
  if (from === '' && to === '') return usual
  const { since, until, faults } = typedRange({ from, to }, nowMs)
  if (Object.keys(faults).length > 0) return { ...usual, faults }
  const typedMs = until ?? nowMs
  const [toMs, isOpen] = [Math.min(typedMs, nowMs), typedMs >= nowMs]
  const fromMs = since ?? toMs - dayMs
  if (fromMs >= nowMs) return { ...usual, faults: { from: 'It must be in the past.' } }
  if (toMs - fromMs > rangeDaysMax * dayMs)
    return { ...usual, faults: { from: 'The range must be at most three years.' } }
  return { fromMs, toMs, isOpen, faults: {} }
}
