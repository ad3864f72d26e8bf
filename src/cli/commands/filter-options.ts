import { type Command, Option } from 'commander'
import { eventKinds } from '../../domain/events/declare-event.ts'
import type { LogPart } from '../../domain/search/event-filter.ts'
import { actorOption, eventTypeOption, instantOption, keyIdArgument, positionOption } from './options.ts'

const instantForms =
  '2026-03-01T10:14:07Z, with an offset like +01:00, a day, seconds since 1970, 10:14, "yesterday 18:00" or "3 hours ago" (UTC)'

export const addFilterOptions = (command: Command, now: () => number): Command =>
  command
    .option('--stream <name>', 'only this stream, like key-7Qp2xK9a or readings-7Qp2xK9a')
    .option('--type <name>', 'only events of this type, like KeyRevoked', eventTypeOption)
    .addOption(new Option('--kind <kind>', 'only events of this kind').choices(eventKinds))
    .option('--actor <who>', 'only what this e-mail, key, "cli" (command line) or "system" (service) did', actorOption)
    .option('--cellar <id>', 'only events of this cellar and its keys')
    .option('--key <key-id>', 'only events of this key and its readings', keyIdArgument)
    .option('--since <instant>', `only events from this instant on: ${instantForms}`, instantOption(now))
    .option('--until <instant>', 'only events before this instant', instantOption(now))
    .option('--from <position>', 'only events after this position', positionOption)
    .option('--to <position>', 'only events up to this position', positionOption)

export const filterOf = (options: Partial<LogPart>): LogPart => ({
  stream: options.stream ?? null,
  type: options.type ?? null,
  kind: options.kind ?? null,
  actor: options.actor ?? null,
  cellar: options.cellar ?? null,
  key: options.key ?? null,
  from: options.from ?? null,
  to: options.to ?? null,
  since: options.since ?? null,
  until: options.until ?? null,
})
