import { HealthPage } from '../../views/health/health-page.tsx'
import type { HealthView } from '../../views/health/health-types.ts'
import type { Shell } from '../../views/types.ts'
import type { Page, Texts } from './every-page.ts'

const day = 86_400_000

export const soundHealth = (texts: Texts, nowMs: number): HealthView => ({
  isReady: true,
  stored: { count: 2_381, overMs: 58_000, p99Ms: 5.8 },
  disk: { freeBytes: 61e9, reserveBytes: 268_435_456, fullInMs: 425 * day },
  store: { kind: 'embedded', logBytes: 1.9e9, walBytes: 4.2e6 },
  check: { kind: 'sound', at: nowMs - day / 8, events: 18_204_117 },
  backup: { endedAt: nowMs - day / 12, bytes: 1.8e9 },
  models: ['idempotency', 'ask', 'readings'].map((name) => ({ name, isReady: true })),
  clockTroubles: [],
  certificate: { endsAtMs: nowMs + 80 * day, warnsAtMs: nowMs + 66 * day },
  version: '0.1.0',
  startedAt: nowMs - 12 * day,
  memoryBytes: 212e6,
  livePages: 3,
  settings: [
    { name: 'HOST', value: '0.0.0.0', source: 'environment', meaning: 'the address where it listens' },
    { name: 'PORT', value: '3000', source: 'default', meaning: 'the port where it listens; `0`: any free port' },
    { name: 'EVENTSTORE_URL', value: 'not shown', source: 'file', meaning: '`esdb://…`' },
    { name: 'PUBLIC_URL', value: texts('baseUrl'), source: 'environment', meaning: 'the address' },
    { name: 'TLS_CERT', value: null, source: 'default', meaning: 'PEM file of the certificate' },
  ],
})

export const healthPages = (
  texts: Texts,
  { shell, nowMs }: { readonly shell: Shell; readonly nowMs: number },
): readonly Page[] => {
  const sound = soundHealth(texts, nowMs)
  const troubled: HealthView = {
    ...sound,
    isReady: false,
    stored: { count: 0, overMs: 20_000, p99Ms: null },
    disk: { freeBytes: 90e6, reserveBytes: 268_435_456, fullInMs: 0 },
    check: { kind: 'damaged', at: nowMs - 60_000, first: texts('fault'), found: '3 changed rows, 1 gap' },
    backup: null,
    models: [{ name: 'ask', isReady: false }],
    clockTroubles: ['ahead', 'doubted'],
    certificate: { endsAtMs: nowMs - day, warnsAtMs: nowMs - 15 * day },
  }
  const away: HealthView = {
    ...sound,
    disk: null,
    store: { kind: 'eventstoredb', leader: null, connections: 3 },
    check: { kind: 'failed', at: nowMs - 60_000, why: texts('fault') },
    certificate: null,
    settings: [],
  }
  const fresh: HealthView = {
    ...sound,
    disk: { freeBytes: 61e9, reserveBytes: 268_435_456, fullInMs: null },
    store: { kind: 'eventstoredb', leader: texts('url'), connections: 1 },
    check: { kind: 'waiting' },
    certificate: { endsAtMs: nowMs + 3 * day, warnsAtMs: nowMs - 11 * day },
  }
  return [
    { name: 'health', html: HealthPage({ shell, health: sound }) },
    { name: 'health-troubled', html: HealthPage({ shell, health: troubled }) },
    { name: 'health-store-away', html: HealthPage({ shell, health: away }) },
    { name: 'health-fresh', html: HealthPage({ shell, health: fresh }) },
  ]
}
