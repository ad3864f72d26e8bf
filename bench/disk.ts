import { rmSync } from 'node:fs'
import type { NewEvent } from '../src/domain/events.ts'
import { readingsStream } from '../src/domain/stream-names.ts'
import { systemEntropy } from '../src/entropy.ts'
import { batchPath } from '../src/http/ingest/api-routes.ts'
import { batchReadingsMax } from '../src/limits.ts'
import type { EventLog } from '../src/log/event-log.ts'
import { openSqliteLog } from '../src/log/sqlite/sqlite-log.ts'
import { folderBytes, table } from './figures.ts'
import { benchFolder, startService } from './servers.ts'

const keys = 100

/**
 * Measures the bytes on disk per reading, after the log was closed. The worst case is an append with only one reading.
 */
export const benchDisk = async (readings: number): Promise<void> => {
  const rows: string[][] = []
  for (const perAppend of [1, 16]) {
    const dataDir = benchFolder()
    try {
      const startedAt = performance.now()
      const log = openSqliteLog({ dataDir })
      await fill(log, readings, perAppend)
      await log.close()
      const seconds = (performance.now() - startedAt) / 1_000
      rows.push([String(perAppend), (folderBytes(dataDir) / readings).toFixed(1), (readings / seconds).toFixed(0)])
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  }
  console.log(`\nDisk, ${readings} readings of ${keys} keys\n`)
  console.log(table([['readings per append', 'bytes per reading', 'readings/s written'], ...rows]))
}

const fill = async (log: EventLog, readings: number, perAppend: number): Promise<void> => {
  const revisions = new Array<number>(keys).fill(-1)
  for (let written = 0; written < readings; ) {
    const appends = []
    for (let key = 0; key < keys && written < readings; key++, written += perAppend) {
      const revision = revisions[key] ?? -1
      const events = Array.from({ length: perAppend }, (_, index) => reading(key, written + index))
      appends.push(log.append(readingsStream(keyId(key)), revision < 0 ? 'none' : revision, events))
      revisions[key] = revision + perAppend
    }
    await Promise.all(appends)
  }
}

const keyId = (key: number): string => `bench${String(key).padStart(3, '0')}`

const reading = (key: number, index: number): NewEvent<'ReadingAccepted'> => {
  const id = systemEntropy.uuid()
  const recordedAt = Date.UTC(2026, 2, 1, 12) + index
  const timestamp = `${new Date(recordedAt).toISOString().slice(0, 19)}Z`
  return {
    id,
    type: 'ReadingAccepted',
    recordedAt,
    data: {
      cellar: 'wine-berlin1',
      rack: `rack-${1_000 + (index % 97)}`,
      keg: 'temperature',
      value: 18 + index / 7,
      timestamp,
    },
    metadata: { by: { kind: 'key', keyId: keyId(key) }, requestId: id, correlationId: id, causationId: id },
  }
}

/**
 * Measures the bytes on disk for a batch of one valid and 999 invalid items. No stored batch can have more refused
 * items. The result also contains the files of an empty service.
 */
export const benchRefusedOnDisk = async (requests: number): Promise<void> => {
  const service = await startService(1)
  try {
    const valid = { cellar: service.cellar, rack: 'r', keg: 'k', value: 1, timestamp: '2026-03-01T12:00:00Z' }
    const json = JSON.stringify({ readings: [valid, ...new Array<number>(batchReadingsMax - 1).fill(0)] })
    const body = Bun.gzipSync(json, { level: 9 })
    const headers = {
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
      'X-API-Key': service.keys[0] ?? '',
    }
    let sent = 0
    const worker = async (): Promise<void> => {
      while (sent < requests) {
        sent += 1
        const answer = await fetch(`${service.url}${batchPath}`, {
          method: 'POST',
          headers: { ...headers, 'Idempotency-Key': systemEntropy.uuid() },
          body,
        })
        if (answer.status !== 207) throw new Error(`Cannot measure: a batch was answered with ${answer.status}`)
        await answer.arrayBuffer()
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, worker))
    await service.end()
    const bytes = folderBytes(service.dataDir)
    console.log(
      `\nDisk, ${requests} batches of ${body.length} bytes with 999 refused items, each with an Idempotency-Key\n`,
    )
    console.log(
      table([
        ['bytes', 'bytes per request'],
        [String(bytes), (bytes / requests).toFixed(1)],
      ]),
    )
  } finally {
    await service.stop()
  }
}

const requestsAtOnce = 32
