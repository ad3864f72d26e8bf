import { afterEach, expect, test } from 'bun:test'
import { questionsOfLog } from '../../../src/asked/questions-of-log.ts'
import { readingsStream } from '../../../src/domain/stream-names.ts'
import { paths } from '../../../views/paths.ts'
import { openFreshLog } from '../../support/logs/engine.ts'
import { passingLog } from '../../support/logs/passing-log.ts'
import { type Service, validReading } from '../../support/test-service.ts'
import { signedIn, startWithOperators } from './visitor.ts'

let service: Service | null = null
afterEach(() => service?.stop())

test('the newest readings of a key take two reads, however many there are', async () => {
  const reads: string[] = []
  const log = await openFreshLog()
  const read: typeof log.read = (stream, options) => {
    reads.push(stream)
    return log.read(stream, options)
  }
  const asked = questionsOfLog({ ...passingLog(log), read })
  const started = await startWithOperators({ log, questions: asked })
  service = started
  const { key, keyId } = await started.createKey()
  for (let count = 0; count < 20; count += 1) await started.post(validReading, key)
  const admin = await signedIn(started, 'admin')
  const { body } = await admin.get(paths.log({ kind: 'readings', key: keyId }))
  expect(body.match(/<tr id="event-/g)).toHaveLength(20)
  expect(reads).toEqual([readingsStream(keyId), readingsStream(keyId)])
  await started.stop()
  service = null
  await log.close()
})
