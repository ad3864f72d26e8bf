import Registry from 'prom-client/lib/registry.js'
import { Histogram } from '../histogram.ts'
import type { Fact, FactSources, Sample } from './declare-fact.ts'
import { facts } from './facts.ts'

export type FactPrinter = { readonly contentType: string; print(): Promise<string> }

/** In Prometheus' text format. */
export const factPrinter = (sources: FactSources): FactPrinter => {
  const registry = new Registry()
  for (const fact of Object.values(facts))
    registry.registerMetric({ name: fact.name, get: () => printed(fact, sources) })
  return { contentType: registry.contentType, print: () => registry.metrics() }
}

const printed = ({ name, help, kind, read }: Fact, sources: FactSources) => ({
  name,
  help,
  type: kind,
  values: read(sources).flatMap((sample) => valuesOf(name, sample)),
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
