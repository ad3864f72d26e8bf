/**
 * The secret of each webhook is made from one master and the webhook's id. So no secret has to be in the log, which copies
 * and auditors can read (docs/decisions/037-webhooks.md).
 */
import { createHmac } from 'node:crypto'
import { closeSync, fsyncSync, readSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OpenedMaster, WebhookMaster } from '../actors/webhooks/webhook-parts.ts'
import { isSystemError } from '../domain/error-message.ts'
import { syncPath } from '../log/backup/backup-files.ts'
import { openFolderFile } from '../log/folder-file.ts'
import { parseWebhookMaster, webhookMasterBytes } from '../variables.ts'
import { secretFrom } from './signature.ts'

export type MasterPlace = {
  /** From the configuration. `null`: the file in the data folder, which only an embedded log has. */
  readonly given: Uint8Array | null
  readonly dataDir: string
  readonly hasEmbeddedLog: boolean
  /** `null`: the file must be there, because receivers know secrets of its master. */
  readonly newBytes: ((count: number) => Uint8Array) | null
}

export const masterFileName = 'webhook-master'

export const openMaster = (place: MasterPlace): OpenedMaster => {
  if (place.given !== null) return masterFrom(place.given)
  if (!place.hasEmbeddedLog) {
    return { why: 'Webhooks need WEBHOOK_MASTER_FILE: with EventStoreDB, all nodes must have the same master' }
  }
  const path = join(place.dataDir, masterFileName)
  try {
    const text = readMaster(path) ?? (place.newBytes === null ? null : makeMaster(path, place.newBytes))
    if (text === null) return { why: `There is no file "${path}". ${missingRemedy}` }
    const parsed = parseWebhookMaster(text)
    return 'value' in parsed ? masterFrom(parsed.value) : { why: `Cannot use "${path}": ${parsed.rule}` }
  } catch (cause) {
    if (isSystemError(cause)) return { why: `Cannot use "${path}": ${cause.message}` }
    throw cause
  }
}

const missingRemedy = 'Put it back, or remove all webhooks: then the service makes a new one.'

const masterFrom = (master: Uint8Array): WebhookMaster => {
  const derive = (message: string): Buffer => createHmac('sha256', master).update(message).digest()
  return {
    id: derive('id').toString('hex').slice(0, 8),
    secretOf: (webhookId) => secretFrom(derive(`webhook ${webhookId}`)),
  }
}

const fileBytesMax = 4096

/** `null`: there is none. */
const readMaster = (path: string): string | null => {
  try {
    const file = openFolderFile(path, 'read')
    try {
      const bytes = Buffer.alloc(fileBytesMax)
      return bytes.toString('utf8', 0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    if (isSystemError(cause) && cause.code === 'ENOENT') return null
    throw cause
  }
}

/** The last step gives the file its name, so a kill leaves no half of a master. */
const makeMaster = (path: string, newBytes: NonNullable<MasterPlace['newBytes']>): string => {
  const text = `${Buffer.from(newBytes(webhookMasterBytes)).toString('base64')}\n`
  const written = `${path}.new`
  const file = openFolderFile(written, 'replace')
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(written, path)
  syncPath(dirname(path))
  return text
}
