import type { Command } from 'commander'
import { visibleJson } from '../../hidden-characters.ts'
import type { BackupProgress } from '../../log/backup/write-backup.ts'
import { damageCountsText, damageText } from '../../log/verify/damage-kinds.ts'
import type { VerifiedLog, VerifyProgress } from '../../log/verify/run-verify.ts'
import { exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/output.ts'
import { formatFields } from '../show/text-for-people.ts'
import { type JsonOption, jsonFlag } from './options.ts'
import type { Runner } from './runner.ts'

export const addVerify = (log: Command, runner: Runner): void => {
  log
    .command('verify')
    .description(
      'Read the whole log and look for damage. Changes nothing, and works while the service runs. ' +
        'Exit code 65 means that the log is damaged',
    )
    .option(...jsonFlag)
    .action((options: JsonOption) => runVerify(runner, options))
}

const runVerify = async ({ deps, config, finish }: Runner, { json }: JsonOption): Promise<void> => {
  const progress = createProgress(deps.screen, deps.now)
  const verified = await deps.verifyLog(config(), (now) => progress.show(progressLine(now)))
  const { first } = verified
  progress.end(first === null ? 'The whole log was read. It is sound.' : 'The whole log was read. It is damaged.')
  await deps.output.write(`${json === true ? visibleJson(viewOf(verified)) : formatFields(fieldsOf(verified))}\n`)
  if (first === null) return
  const remedy = 'Check the disk, and restore a backup into an empty data folder'
  finish({ exitCode: exitCodes.damaged, message: `The log is damaged at ${damageText(first)}. ${remedy}` })
}

export const progressLine = ({ phase, events, share }: VerifyProgress | BackupProgress): string =>
  `${phaseWords[phase]}: ${events.toLocaleString('en')} events, ${Math.floor(share * 100)} %`

const phaseWords: Readonly<Record<(VerifyProgress | BackupProgress)['phase'], string>> = {
  streams: 'checking the streams',
  rows: 'checking the rows',
  index: 'checking the index',
  pages: 'checking the pages',
  events: 'checking the events',
  copying: 'copying the rows',
  hashing: 'reading the file for its SHA-256',
}

/** Scripts rely on these names. */
const viewOf = ({ first, counts, ...verified }: VerifiedLog): object => ({
  sound: first === null,
  ...verified,
  first,
  damage: counts,
})

const fieldsOf = ({ rows, events, streams, arePagesChecked, first, counts }: VerifiedLog) =>
  [
    ['result', first === null ? 'sound' : 'damaged'],
    ...(rows === null ? [] : [['rows', rows.toLocaleString('en')] as const]),
    ['events', events.toLocaleString('en')],
    ['streams', streams.toLocaleString('en')],
    ...(arePagesChecked === false ? [['not checked', notChecked] as const] : []),
    ...(first === null ? [] : [['first damage', damageText(first)] as const]),
    ...(first === null ? [] : [['damage', damageCountsText(counts)] as const]),
  ] as const

const notChecked = 'the pages of the file: stop the service first, because this check locks the file for long'
