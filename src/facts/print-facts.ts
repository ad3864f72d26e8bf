import Registry from 'prom-client/lib/registry.js'
import { Histogram } from '../histogram.ts'
import type { Fact, FactSources, Sample } from './declare-fact.ts'
import { facts, factsOfStart } from './facts.ts'

export type FactPrinter = { readonly contentType: string; print(): Promise<string> }

/** In Prometheus' text format. `null`: the service starts. A fact that cannot be read is left out, and hides no other. */
export const factPrinter = (sources: () => FactSources | null, onBug: (thrown: unknown) => void): FactPrinter => {
  const samplesOf = (fact: Fact): readonly Sample[] => {
    const now = sources()
    try {
      if (now !== null) return fact.read(now)
      return factsOfStart.find(({ name }) => name === fact.name)?.read() ?? []
    } catch (thrown) {
      onBug(thrown)
      return []
    }
  }
  const registry = new Registry()
  for (const fact of Object.values(facts))
    registry.registerMetric({ name: fact.name, get: () => printed(fact, samplesOf(fact)) })
  return { contentType: registry.contentType, print: () => registry.metrics() }
}

const printed = ({ name, help, kind }: Fact, samples: readonly Sample[]) => ({
  name,
  help,
  type: kind,
  values: samples.flatMap((sample) => valuesOf(name, sample)),
})

const valuesOf = (name: string, { labels, value }: Sample) => {
  if (!(value instanceof Histogram)) return [{ labels, value }]
  let below = 0
  const buckets = value.counts.map((count, bucket) => {
    below += count
    const bound = value.bounds[bucket]
    const le = bound === undefined ? '+Inf' : `${bound}`
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: value.sum },
    { metricName: `${name}_count`, labels, value: below },
  ]
}
