import type { Command } from 'commander'
import { instantText } from '../../domain/calendar.ts'
import { visibleJson } from '../../hidden-characters.ts'
import { type Backup, backupEnd } from '../../log/backup/backup-files.ts'
import type { CheckedBackup } from '../../log/backup/restore-backup.ts'
import type { BackupProgress } from '../../log/backup/write-backup.ts'
import { CommandFailed, exitCodes } from '../exit-codes.ts'
import { createProgress } from '../show/output.ts'
import { formatFields } from '../show/text-for-people.ts'
import { countOption, type JsonOption, jsonFlag } from './options.ts'
import type { ProgramDeps, Runner } from './runner.ts'
import { progressLine } from './verify-command.ts'

const backupsKeptMax = 10_000

export const addBackupCommands = (program: Command, runner: Runner): void => {
  program
    .command('backup')
    .description(
      'Write a checked copy of the log, and a manifest beside it. Works while the service runs. ' +
        'Exit code 65 means that the log is damaged, and that nothing was written',
    )
    .argument('<target>', 'a new file that ends with .db, or a folder, in which each backup gets a name of its own')
    .option(
      '--keep <count>',
      'delete older backups of this log in the folder, and keep this many',
      countOption({ max: backupsKeptMax }),
    )
    .option(...jsonFlag)
    .action((target: string, options: BackupOptions) => runBackup(runner, target, options))

  program
    .command('restore')
    .description(
      'Check a backup, say what is in it, and restore it into DATA_DIR, which must be empty. ' +
        'Events after the backup are missing then',
    )
    .argument('<from>', 'the file of a backup, or its manifest')
    .option('--yes', 'restore without asking')
    .option(...jsonFlag)
    .action((from: string, options: RestoreOptions) => runRestore(runner, from, options))
}

type BackupOptions = JsonOption & { readonly keep?: number }

const runBackup = async ({ deps, config }: Runner, target: string, { keep, json }: BackupOptions): Promise<void> => {
  if (keep !== undefined && target.endsWith(backupEnd))
    throw new CommandFailed(`--keep is for a folder, and "${target}" is a file`, exitCodes.usage)
  const progress = createProgress(deps.screen, deps.now)
  const onProgress = (now: BackupProgress): void => progress.show(progressLine(now))
  const { path, manifest, deleted } = await deps.backup(config(), { target, keep: keep ?? null, onProgress })
  progress.end('The backup was checked. It is sound.')
  const text =
    json === true
      ? visibleJson({ path, ...manifest, deleted })
      : formatFields([...fieldsOf({ path, manifest }), ...deletedFields(deleted)])
  await deps.output.write(`${text}\n`)
}

const fieldsOf = ({ path, manifest }: Backup) =>
  [
    ['backup', path],
    ['log', manifest.logId],
    ['events', manifest.events.toLocaleString('en')],
    ['last position', `${manifest.lastPosition}, recorded at ${manifest.lastRecordedAt}`],
    ['bytes', manifest.bytes.toLocaleString('en')],
    ['SHA-256', manifest.sha256],
  ] as const

const deletedFields = (deleted: readonly string[]) => deleted.map((path) => ['deleted', path] as const)

type RestoreOptions = JsonOption & { readonly yes?: boolean }

const runRestore = async (runner: Runner, from: string, { yes = false, json }: RestoreOptions): Promise<void> => {
  const { deps, finish } = runner
  const config = runner.config()
  const progress = createProgress(deps.screen, deps.now)
  const found = await deps.checkBackup(config, from, (now) => progress.show(progressLine(now)))
  progress.end(
    found.manifest === null ? 'It has no manifest. Its log is sound.' : 'The backup was checked. It is sound.',
  )
  const view = { ...found, lastRecordedAt: instantText(found.lastRecordedAt), manifest: found.manifest !== null }
  await deps.output.write(`${json === true ? visibleJson(view) : formatFields(contentFields(found))}\n`)
  if (!yes && (json === true || !isAgreed(deps, found))) {
    const message = `Nothing was restored. ${missingWords(found)} To confirm, add --yes.`
    return finish({ exitCode: exitCodes.refused, message })
  }
  await deps.restore(config, found)
  finish({ exitCode: exitCodes.done, message: `The log was restored into "${config.dataDir}". ${missingWords(found)}` })
}

/** Asks only if a person can answer. */
const isAgreed = ({ screen, ask }: ProgramDeps, found: CheckedBackup): boolean => {
  if (ask === undefined) return false
  screen.write(`${missingWords(found)}\n`)
  return ask('Restore it?')
}

const contentFields = ({ path, logId, events, keys, cellars, lastPosition, lastRecordedAt }: CheckedBackup) =>
  [
    ['backup', path],
    ['log', logId],
    ['events', events.toLocaleString('en')],
    ['keys', keys.toLocaleString('en')],
    ['cellars', cellars.toLocaleString('en')],
    ['last position', `${lastPosition}, recorded at ${instantText(lastRecordedAt)}`],
  ] as const

const missingWords = ({ lastPosition, lastRecordedAt }: CheckedBackup): string =>
  `The backup ends with position ${lastPosition}, recorded at ${instantText(lastRecordedAt)}. ` +
  'Everything after it is missing. Keys that were revoked or suspended since then are active again, and removed ' +
  'operators can sign in. Positions and receipts after it are given again, for other readings. ' +
  'docs/operations.md, "Back up and restore", says what to do before the service starts.'
