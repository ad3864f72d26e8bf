/**
 * What the person on call may ask about a node, declared once. Metrics, the health page, alerts and the panels of Grafana take
 * it from here. Counters count since the start of the node.
 */
import { type Fact, type FactSources, fact, factBy, factOfProcess } from './declare-fact.ts'

const diskOf = ({ log }: FactSources) => log.figures?.().disk ?? null

const asNumber = (isTrue: boolean): number => (isTrue ? 1 : 0)

const asNumbers = (states: ReadonlyMap<string, boolean>): Iterable<[string, number]> =>
  [...states].map(([name, isTrue]) => [name, asNumber(isTrue)])

const readings = {
  stored: fact(
    'counter',
    { name: 'cellarbook_readings_stored_total', help: 'Readings that were stored by this node.' },
    ({ core }) => core.figures().storedReadings,
  ),
  refused: factBy(
    'code',
    'counter',
    {
      name: 'cellarbook_readings_refused_total',
      help: 'Refused requests to store readings, and refused readings of batches, by code.',
    },
    ({ requests }) => requests.refused,
  ),
  ingest: factBy(
    'stage',
    'histogram',
    {
      name: 'cellarbook_ingest_seconds',
      help: 'For each reading. wait: until its commit group is sent. commit: until that is answered. whole: from body to answer.',
    },
    ({ log, requests }) => {
      const appends = log.figures?.().appends
      const whole = ['whole', requests.storeSeconds] as const
      return appends === undefined ? [whole] : [['wait', appends.waitSeconds], ['commit', appends.commitSeconds], whole]
    },
  ),
  groups: fact(
    'histogram',
    { name: 'cellarbook_commit_group_events', help: 'Events in each commit group, or in each append to EventStoreDB.' },
    ({ log }) => log.figures?.().appends.groupEvents ?? null,
  ),
}

const requests: Fact = {
  name: 'cellarbook_http_requests_total',
  help: 'Requests to the API and the dashboard, by the template of the route and the status code. 499: the client left.',
  kind: 'counter',
  unit: null,
  labels: ['route', 'code'],
  read: ({ requests: { codes } }) =>
    [...codes].flatMap(([route, counts]) =>
      [...counts].map(([code, value]) => ({ labels: { route, code: `${code}` }, value })),
    ),
}

const queues = {
  queueItems: factBy(
    'queue',
    'gauge',
    {
      name: 'cellarbook_queue_items',
      help: 'What waits. log: events to be written. bodies: unfinished bodies. passwords: passwords to be hashed.',
    },
    ({ log, bodies, core }) => [
      ['log', log.figures?.().waiting.events ?? 0],
      ['bodies', bodies.count],
      ['passwords', core.figures().passwordsWaiting],
    ],
  ),
  queueBytes: factBy(
    'queue',
    'gauge',
    {
      name: 'cellarbook_queue_bytes',
      help: 'Bytes that wait. log: events to be written. The others: what unfinished bodies reserve, by who sends them.',
    },
    ({ log, bodies }) => [
      ['log', log.figures?.().waiting.bytes ?? 0],
      ['bodies_of_devices', bodies.reservedBytes('devices')],
      ['bodies_of_operators', bodies.reservedBytes('operators')],
      ['bodies_of_visitors', bodies.reservedBytes('visitors')],
    ],
  ),
  webhookMessages: fact(
    'gauge',
    { name: 'cellarbook_webhook_messages', help: 'Messages to webhooks that are not delivered yet.' },
    ({ core }) => core.figures().webhooks.waiting,
  ),
  webhooksFailing: fact(
    'gauge',
    {
      name: 'cellarbook_webhooks_failing',
      help: 'Webhooks to which this node cannot send, or whose last attempt to deliver a message failed.',
    },
    ({ core }) => core.figures().webhooks.failing,
  ),
  loopLag: fact(
    'histogram',
    {
      name: 'cellarbook_event_loop_lag_seconds',
      help: 'How late a timer ran, twice a second. All requests of the node wait as long.',
    },
    ({ watch }) => watch.loopLagSeconds,
  ),
  actors: factBy(
    'kind',
    'gauge',
    { name: 'cellarbook_actors', help: 'Keys, cellars and operators whose actor is in memory.' },
    ({ core }) => Object.entries(core.figures().actors),
  ),
}

const models = {
  modelLag: factBy(
    'model',
    'gauge',
    {
      name: 'cellarbook_model_lag_positions',
      help: 'Positions of the log that the file of the read model lacks. It is written every few seconds. EventStoreDB counts bytes.',
    },
    (sources) => sources.models().flatMap(({ name, lag }): [string, number][] => (lag === null ? [] : [[name, lag]])),
  ),
  modelReady: factBy(
    'model',
    'gauge',
    {
      name: 'cellarbook_model_ready',
      help: '1: the read model follows the log. 0: it is being built, or it cannot be used.',
    },
    (sources) =>
      sources
        .models()
        .map(({ name, progress }) => [name, asNumber(!progress.isBehind && progress.trouble === null)] as const),
  ),
}

const people = {
  livePages: fact(
    'gauge',
    { name: 'cellarbook_live_pages', help: 'Open pages that are updated by themselves.' },
    ({ live }) => live.streams,
  ),
  refusedSignIns: factBy(
    'reason',
    'counter',
    {
      name: 'cellarbook_sign_ins_refused_total',
      help: 'Sign-ins, one-time links and forms that were refused, by reason.',
    },
    ({ traces }) => traces.counts,
  ),
}

const disk = {
  diskFree: fact(
    'gauge',
    { name: 'cellarbook_disk_free_bytes', help: 'Free space on the disk of the embedded log.' },
    (sources) => diskOf(sources)?.freeBytes ?? null,
  ),
  diskReserve: fact(
    'gauge',
    {
      name: 'cellarbook_disk_reserve_bytes',
      help: 'With less free space, readings are refused. The variable DISK_RESERVE sets it.',
    },
    (sources) => diskOf(sources)?.reserveBytes ?? null,
  ),
  diskFull: fact(
    'gauge',
    {
      name: 'cellarbook_disk_full_in_seconds',
      help: 'Time until readings are refused, if the disk fills as in the last day, or as in the last hour if that is within a day. +Inf: it does not fill.',
    },
    ({ watch }) => watch.diskFullInSeconds,
  ),
  logBytes: fact(
    'gauge',
    { name: 'cellarbook_log_bytes', help: 'Size of log.db, the file of the embedded log.' },
    (sources) => diskOf(sources)?.logBytes ?? null,
  ),
  walBytes: fact(
    'gauge',
    { name: 'cellarbook_wal_bytes', help: 'Size of log.db-wal, the write-ahead log.' },
    (sources) => diskOf(sources)?.walBytes ?? null,
  ),
}

const state = {
  ready: fact(
    'gauge',
    { name: 'cellarbook_ready', help: '1: the node takes all kinds of readings, as /readyz says.' },
    ({ isReady }) => asNumber(isReady()),
  ),
  logAvailable: fact(
    'gauge',
    {
      name: 'cellarbook_log_available',
      help: '1: the log can be written. With EventStoreDB: this node is connected to a leader.',
    },
    ({ log }) => asNumber(log.health().ok),
  ),
  storeConnections: fact(
    'counter',
    {
      name: 'cellarbook_store_connections_total',
      help: 'Connections to a leader of EventStoreDB. A further one follows an election or a failure of the network.',
    },
    ({ log }) => log.figures?.().store?.connections ?? null,
  ),
  troubles: factBy(
    'reason',
    'gauge',
    { name: 'cellarbook_trouble', help: '1: the service reports this trouble on its pages and in its log lines.' },
    ({ reasons }) => asNumbers(reasons()),
  ),
  clocks: factBy(
    'kind',
    'gauge',
    {
      name: 'cellarbook_clock_trouble',
      help: '1: clocks differ. ahead, late: events of another time arrive. leapt, doubted: the own clock is not trusted.',
    },
    ({ clocks }) => asNumbers(clocks()),
  ),
  checkedAt: fact(
    'gauge',
    { name: 'cellarbook_log_check_timestamp_seconds', help: 'When the last check of the embedded log ended.' },
    (sources) => {
      const check = sources.check()
      return check !== null && 'at' in check ? check.at / 1_000 : null
    },
  ),
  checkSound: fact(
    'gauge',
    {
      name: 'cellarbook_log_check_sound',
      help: '1: the last check found no damage. 0: it found damage, or it could not read the log.',
    },
    (sources) => {
      const check = sources.check()
      return check !== null && 'at' in check ? asNumber(check.kind === 'sound') : null
    },
  ),
  backedUpAt: fact(
    'gauge',
    { name: 'cellarbook_last_backup_timestamp_seconds', help: 'When the last `cellarbook backup` of the log ended.' },
    ({ watch }) => (watch.lastBackup === null ? null : watch.lastBackup.endedAt / 1_000),
  ),
  backupSize: fact(
    'gauge',
    { name: 'cellarbook_last_backup_bytes', help: 'The size of the last `cellarbook backup` of the log.' },
    ({ watch }) => watch.lastBackup?.bytes ?? null,
  ),
  certificateEnd: fact(
    'gauge',
    { name: 'cellarbook_certificate_end_timestamp_seconds', help: 'When the certificate of TLS_CERT ends.' },
    ({ servedCertificate }) => {
      const endsAtMs = servedCertificate()?.endsAtMs
      return endsAtMs === undefined ? null : endsAtMs / 1_000
    },
  ),
}

const node = {
  version: factBy(
    'version',
    'gauge',
    { name: 'cellarbook_build_info', help: 'Always 1. The label is the version.' },
    ({ version }) => [[version, 1]],
  ),
}

const ofProcess = {
  started: factOfProcess(
    'gauge',
    { name: 'process_start_time_seconds', help: 'When the process started.' },
    () => performance.timeOrigin / 1_000,
  ),
  processor: factOfProcess(
    'counter',
    { name: 'process_cpu_seconds_total', help: 'Processor time of the node, with all its threads.' },
    () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000_000
    },
  ),
  memory: factOfProcess(
    'gauge',
    { name: 'process_resident_memory_bytes', help: 'Memory of the node, with all its threads.' },
    () => process.memoryUsage.rss(),
  ),
  heap: factOfProcess(
    'gauge',
    { name: 'cellarbook_heap_bytes', help: 'Memory of the objects of the event loop.' },
    () => process.memoryUsage().heapUsed,
  ),
}

export const facts = {
  ...readings,
  requests,
  ...queues,
  ...models,
  ...people,
  ...disk,
  ...state,
  ...node,
  ...ofProcess,
}

/** While a long start reads the log, the node answers, and is not ready. */
export const factsOfStart = [
  ...Object.values(ofProcess),
  { ...state.ready, read: () => [{ labels: {}, value: 0 }] },
] as const
