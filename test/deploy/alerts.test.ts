import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { facts } from '../../src/facts/facts.ts'
import { root } from '../support/cellarbook.ts'
import { type Service, startService } from '../support/test-service.ts'

setDefaultTimeout(600_000)

let service: Service
beforeAll(async () => {
  service = await startService({ isDerived: true })
})
afterAll(() => service.stop())

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

const textOf = (path: string): Promise<string> => Bun.file(join(root, path)).text()

const rulesPath = 'deploy/prometheus/alerts.yaml'
const rulesOf = async (): Promise<readonly Rule[]> =>
  (Bun.YAML.parse(await textOf(rulesPath)) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules)

const expressionsOfGrafana = async (): Promise<readonly string[]> => {
  const { panels, templating } = JSON.parse(await textOf('deploy/grafana/cellarbook.json'))
  return [
    ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ...templating.list.flatMap(({ query }: { query: string | { query: string } }) =>
      typeof query === 'string' ? [] : [query.query],
    ),
  ]
}

/** Of Prometheus itself, not of the service. */
const ownOfPrometheus = new Set(['up'])

const byName = new Map(Object.values(facts).map((fact) => [fact.name, fact]))
const factOf = (metric: string) =>
  byName.get(metric) ??
  [...byName.values()].find(
    ({ name, kind }) => kind === 'histogram' && /^_(bucket|sum|count)$/.test(metric.replace(name, '')),
  )

/** What an expression asks for that the service does not export. A part of a regular expression must match some value. */
const unknownIn = (expression: string): readonly string[] =>
  [...expression.matchAll(/\b(up|(?:cellarbook|process)_\w+)(?:\{([^}]*)\})?/g)].flatMap(
    ([, metric = '', selector = '']) => {
      if (ownOfPrometheus.has(metric)) return []
      const fact = factOf(metric)
      if (fact === undefined) return [metric]
      const asked = [...selector.matchAll(/(\w+)\s*[=!]~?"([^"]*)"/g)]
      return asked.flatMap(([, label = '', text = '']) => {
        if (label === 'job' || label === 'instance') return []
        if (!fact.labels.includes(label)) return [`${metric}{${label}}`]
        const values = fact.read(service.facts).map(({ labels }) => labels[label] ?? '')
        const unknown = text
          .split('|')
          .filter((part) => !values.some((value) => new RegExp(`^(?:${part})$`).test(value)))
        return unknown.map((part) => `${metric}{${label}="${part}"}`)
      })
    },
  )

describe('the rules of Prometheus and the panels of Grafana', () => {
  test('ask only for metrics and labels that the service exports', async () => {
    const expressions = [...(await rulesOf()).map(({ expr }) => expr), ...(await expressionsOfGrafana())]
    expect(expressions.length).toBeGreaterThan(30)
    for (const expression of expressions) expect([expression, unknownIn(expression)]).toEqual([expression, []])
  })

  test('would be found out if they asked for anything else', () => {
    expect(unknownIn('cellarbook_reading_stored_total > 0')).toEqual(['cellarbook_reading_stored_total'])
    expect(unknownIn('cellarbook_ready_bucket')).toEqual(['cellarbook_ready_bucket'])
    expect(unknownIn('rate(cellarbook_ingest_seconds_bucket{stage="whole"}[5m])')).toEqual([])
    expect(unknownIn('cellarbook_actors{key="one"}')).toEqual(['cellarbook_actors{key}'])
    expect(unknownIn('cellarbook_ingest_seconds_bucket{stage="hole"}')).toEqual([
      'cellarbook_ingest_seconds_bucket{stage="hole"}',
    ])
    expect(unknownIn('cellarbook_trouble{reason!~"full|damage"}')).toEqual(['cellarbook_trouble{reason="damage"}'])
    expect(unknownIn('cellarbook_http_requests_total{code="501"}')).toEqual([
      'cellarbook_http_requests_total{code="501"}',
    ])
  })

  test('show every fact in a panel of Grafana', async () => {
    const shown = (await expressionsOfGrafana()).join('\n')
    const left = Object.values(facts).filter(({ name }) => !new RegExp(`\\b${name}(_bucket|_count)?\\b`).test(shown))
    expect(left.map(({ name }) => name)).toEqual(['cellarbook_log_check_sound', 'cellarbook_build_info'])
  })
})

describe('each alert', () => {
  test('has a row in docs/operations.md that says what to look at and what to do', async () => {
    const page = await textOf('docs/operations.md')
    const rows = [...page.matchAll(/^\| `(Cellarbook\w+)`\s*\|(.+)\|(.+)\|(.+)\|$/gm)]
    for (const [, alert, ...cells] of rows) {
      expect([alert, cells.map((cell) => cell.trim() !== '')]).toEqual([alert, [true, true, true]])
    }
    expect(rows.map(([, alert]) => alert)).toEqual((await rulesOf()).map(({ alert }) => alert))
  })

  test('has a severity and a sentence that names the node', async () => {
    for (const { alert, labels, annotations } of await rulesOf()) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
      expect(annotations.summary).toContain('{{ $labels.instance }}')
    }
  })

  test.skipIf(Bun.which('promtool') === null)('is a rule that Prometheus takes', async () => {
    const child = Bun.spawn(['promtool', 'check', 'rules', join(root, rulesPath)], { stdout: 'pipe', stderr: 'pipe' })
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ''])
  })

  test.skipIf(Bun.which('promtool') === null)('fires in Prometheus when it should, and not before', async () => {
    const trials = join(import.meta.dir, 'alerts-in-time.yaml')
    const child = Bun.spawn(['promtool', 'test', 'rules', trials], { stdout: 'pipe', stderr: 'pipe' })
    const [said, failed] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()]
    expect([await child.exited, said.includes('SUCCESS'), failed]).toEqual([0, true, ''])
  })
})
