import { Layout } from '../frame/layout.tsx'
import { Live } from '../parts/live.tsx'
import { Name } from '../parts/name.tsx'
import { Table } from '../parts/table.tsx'
import { paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { HealthFacts } from './health-facts.tsx'
import type { HealthView, SettingView } from './health-types.ts'

/** How often a live page is rendered without an event. */
const refreshSeconds = 10

export const HealthPage = (props: { readonly shell: Shell; readonly health: HealthView }): JSX.Element => (
  <Layout shell={props.shell} title="Health" section="health" refreshSeconds={refreshSeconds}>
    <div class="heading">
      <h1>Health</h1>
      <p class="lead">
        How this node is doing now. With <code>METRICS_PORT</code>, Prometheus can read these figures, too.
      </p>
    </div>
    <Live from={paths.liveHealth} target="#health">
      <HealthFacts health={props.health} nowMs={props.shell.nowMs} />
    </Live>
    <section aria-labelledby="settings">
      <h2 id="settings">Configuration</h2>
      <p class="quiet">In force since the start of this node. Secrets are not shown.</p>
      <Table
        class="settings"
        hasRowHeadings
        rows={props.health.settings}
        columns={[
          { head: 'Variable', cell: (setting) => <Variable {...setting} /> },
          { head: 'Value', cell: ({ value }) => <SettingValue value={value} /> },
          { head: 'From', cell: ({ source }) => <Name text={source} /> },
        ]}
      />
    </section>
  </Layout>
)

const SettingValue = ({ value }: Pick<SettingView, 'value'>): JSX.Element =>
  value === null ? (
    <span class="quiet">not set</span>
  ) : (
    <code>
      <Name text={value} />
    </code>
  )

const Variable = ({ name, meaning }: SettingView): JSX.Element => (
  <>
    <code safe>{name}</code>
    <small class="under quiet">
      {/* Every second piece was between backticks. */}
      {meaning
        .split('`')
        .map((piece, index) => (index % 2 === 1 ? <code safe>{piece}</code> : <span safe>{piece}</span>))}
    </small>
  </>
)
