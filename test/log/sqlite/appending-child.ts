/**
 * A process that appends to many streams until it is killed. After each answered append, it prints "stream revision id" without
 * a buffer, so that a kill loses no line.
 */
import { writeSync } from 'node:fs'
import { systemClock } from '../../../src/clock.ts'
import { systemEntropy } from '../../../src/entropy.ts'
import { ensureLogCreated } from '../../../src/log/log-identity.ts'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { reading } from '../../support/logs/sample-events.ts'

const [dataDir = ''] = process.argv.slice(2)
const log = openSqliteLog({ dataDir })
await ensureLogCreated(log, systemClock, systemEntropy)

const appendForEver = async (stream: string): Promise<void> => {
  const [last] = await log.read(stream, { limit: 1, direction: 'backwards' })
  let revision = last?.revision ?? -1
  for (let turn = 0; ; turn++) {
    const events = Array.from({ length: turn % 10 === 0 ? 5 : 1 }, () => reading(stream, { value: turn }))
    const result = await log.append(stream, revision < 0 ? 'none' : revision, events)
    if (result.outcome !== 'written') throw new Error(`${stream} answered ${result.outcome}`)
    writeSync(1, result.events.map((event) => `${stream} ${event.revision} ${event.id}\n`).join(''))
    revision += events.length
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => appendForEver(`readings-${index}`)))
