import { version } from '../package.json' with { type: 'json' }
import type { Core } from './actors/core-interface.ts'
import type { TimesTold } from './actors/time/clock-watch.ts'
import type { MachineClock } from './clock.ts'
import type { DerivedStore } from './derived/derived-store.ts'
import type { NodeLines } from './domain/attention/lines-of-nodes.ts'
import type { FactSources } from './facts/declare-fact.ts'
import { FactWatch, type Watched } from './facts/fact-watch.ts'
import { nodeLines } from './facts/node-lines.ts'
import { type Reason, reasonKinds } from './health.ts'
import type { Schedule } from './schedule.ts'

export type FactParts = Pick<
  FactSources,
  'requests' | 'bodies' | 'live' | 'traces' | 'isReady' | 'check' | 'servedCertificate' | 'logBeganMs'
> & {
  readonly core: Core
  readonly clocks: ClockTroubles
  readonly reasons: () => readonly Reason[]
  readonly lastBackup: Watched['lastBackup']
  /** With the names of its models. `null`: without a derived store. */
  readonly derived: { readonly store: DerivedStore; readonly models: readonly string[] } | null
}

export type ServiceFacts = FactSources & {
  readonly watch: FactWatch
  readonly nodeLines: () => NodeLines
}

/** Ends with `watch.stop`. */
export const factsOfService = (
  { core, clocks, reasons, derived, lastBackup, ...parts }: FactParts,
  clock: MachineClock,
  schedule: Schedule,
): ServiceFacts => {
  const { log } = core
  const watched = {
    storedReadings: () => core.figures().storedReadings,
    storeSeconds: parts.requests.storeSeconds,
    disk: () => log.figures?.().disk ?? null,
    lastBackup,
  }
  const facts: FactSources & { readonly watch: FactWatch } = {
    ...parts,
    version,
    startedMs: clock.now(),
    log,
    core,
    models: () =>
      derived === null
        ? []
        : derived.models.map((name) => ({
            name,
            lag: derived.store.lag(name),
            progress: derived.store.progress(name),
          })),
    reasons: () => {
      const now = new Set<string>(reasons().map(({ kind }) => kind))
      return new Map(reasonKinds.map((kind) => [kind, now.has(kind)]))
    },
    clocks: () => clocks,
    watch: new FactWatch(watched, schedule, () => clock.passedMs()),
  }
  return { ...facts, nodeLines: () => nodeLines(facts, clock.now()) }
}

export type ClockTroubles = Map<string, boolean>

export const noClockTroubles = (): ClockTroubles =>
  new Map([
    ['ahead', false],
    ['late', false],
    ['leapt', false],
    ['doubted', false],
  ])

export const noteTimes = (troubles: ClockTroubles, { kind }: TimesTold): void => {
  troubles.set(kind.replace('_no_more', ''), !kind.endsWith('_no_more'))
}

/** They are set when their parts have started. */
export type HealthFacts = { readonly clocks: ClockTroubles; nodeLines: () => NodeLines | null }

export const noHealthFacts = (): HealthFacts => ({ clocks: noClockTroubles(), nodeLines: () => null })
