/** The whole of prom-client takes 17 MB of memory. Its printer alone takes 3 MB, and the facts need no more. */
declare module 'prom-client/lib/registry.js' {
  type Printed = {
    readonly name: string
    readonly help: string
    readonly type: 'counter' | 'gauge' | 'histogram'
    readonly values: readonly {
      readonly metricName?: string
      readonly labels: Readonly<Record<string, string>>
      readonly value: number
    }[]
  }
  class Registry {
    readonly contentType: string
    registerMetric(metric: { readonly name: string; get(): Printed }): void
    metrics(): Promise<string>
  }

  export = Registry
}
