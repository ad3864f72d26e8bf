import type { ClockTrouble, HealthView, SettingView, StoreView } from '../../../../views/health/health-types.ts'
import type { Fact, FactSources } from '../../../facts/declare-fact.ts'
import { facts } from '../../../facts/facts.ts'

/** From the table of facts, so that the page and the metrics agree. */
export const healthView = (sources: FactSources, settings: readonly SettingView[]): HealthView => {
  const one = (fact: Fact): number | null => {
    const value = fact.read(sources)[0]?.value
    return typeof value === 'number' ? value : null
  }
  const [freeBytes, reserveBytes] = [one(facts.diskFree), one(facts.diskReserve)]
  const fullInSeconds = one(facts.diskFull)
  const [backupEndedAt, backupBytes] = [milliseconds(one(facts.backedUpAt)), one(facts.backupSize)]
  const { stored, overMs, p99Seconds } = sources.watch.lastMinute
  return {
    isReady: one(facts.ready) === 1,
    stored: { count: stored, overMs, p99Ms: milliseconds(p99Seconds) },
    disk:
      freeBytes === null || reserveBytes === null
        ? null
        : { freeBytes, reserveBytes, fullInMs: milliseconds(fullInSeconds) },
    store: storeView(sources, one),
    check: sources.check(),
    backup: backupEndedAt === null || backupBytes === null ? null : { endedAt: backupEndedAt, bytes: backupBytes },
    models: facts.modelReady
      .read(sources)
      .map(({ labels, value }) => ({ name: labels['model'] ?? '', isReady: value === 1 })),
    clockTroubles: clockKinds.filter((kind) => sources.clocks().get(kind) === true),
    certificate: sources.servedCertificate(),
    version: sources.version,
    startedAt: sources.startedMs,
    memoryBytes: one(facts.memory) ?? 0,
    livePages: one(facts.livePages) ?? 0,
    settings,
  }
}

const clockKinds: readonly ClockTrouble[] = ['ahead', 'late', 'leapt', 'doubted']

const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1_000)

const storeView = ({ log }: FactSources, one: (fact: Fact) => number | null): StoreView => {
  const store = log.figures?.().store ?? null
  if (store !== null) return { kind: 'eventstoredb', ...store }
  return { kind: 'embedded', logBytes: one(facts.logBytes), walBytes: one(facts.walBytes) }
}
