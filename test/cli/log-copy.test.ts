import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { openSqliteLog } from '../../src/log/sqlite/sqlite-log.ts'
import { cellarbook, newFolder, program } from '../support/cellarbook.ts'
import { storeUrl } from '../support/logs/engine.ts'
import { freshPrefix } from '../support/logs/event-store-log.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
const place = (name: string): string => join(folder.path, name)
const source = place('source')
afterAll(() => folder.remove())

// These tests need both engines, whichever engine the other tests use.
const eventStore = { EVENTSTORE_URL: await storeUrl(), EVENTSTORE_PREFIX: freshPrefix() }
const embedded = (dataDir: string) => ({ DATA_DIR: dataDir, EVENTSTORE_URL: '' })
const keysIn = async (environment: Readonly<Record<string, string>>) =>
  (await cellarbook(['key', 'list', '--json'], environment)).lines

describe('cellarbook log copy', () => {
  test('moves a log to the store and back with the same keys', async () => {
    await cellarbook(['cellar', 'create', 'wine-berlin'], embedded(source))
    await cellarbook(['key', 'create', '--cellar', 'wine-berlin'], embedded(source))
    const there = await cellarbook(['log', 'copy', '--from', source, '--to', 'eventstore', '--json'], eventStore)
    expect([there.exitCode, there.lines]).toEqual([0, [{ events: 2, streams: 2, digest: expect.any(String) }]])
    expect(there.stderr).toContain('They are equal')
    const back = await cellarbook(['log', 'copy', '--from', 'eventstore', '--to', place('back'), '--json'], eventStore)
    expect([back.exitCode, back.lines]).toEqual([0, [...there.lines]])

    const keys = await keysIn(embedded(source))
    expect(keys).toHaveLength(1)
    expect(await keysIn({ ...eventStore, DATA_DIR: place('node') })).toEqual(keys)
    expect(await keysIn(embedded(place('back')))).toEqual(keys)
  })

  test('explains wrong places in a sentence', async () => {
    const wrong = [
      { from: place('nowhere'), to: place('new'), exitCode: 78, says: 'there is none in' },
      { from: source, to: source, exitCode: 64, says: '--from and --to are the same' },
      { from: source, to: 'eventstore', exitCode: 64, says: 'EVENTSTORE_URL is not set' },
      { from: source, to: 'esdb://anna:secret@store:2113', exitCode: 64, says: 'Put the URL into EVENTSTORE_URL' },
    ]
    for (const { from, to, exitCode, says } of wrong) {
      const ran = await cellarbook(['log', 'copy', '--from', from, '--to', to])
      expect([says, ran.exitCode, ran.stdout]).toEqual([says, exitCode, ''])
      expect(ran.stderr).toContain(says)
      expect(ran.stderr).not.toContain('secret')
    }
  })

  test('does not change a target that has another log', async () => {
    await cellarbook(['cellar', 'create', 'other'], embedded(place('other')))
    const ran = await cellarbook(['log', 'copy', '--from', source, '--to', place('other')])
    expect([ran.exitCode, ran.stderr]).toEqual([78, expect.stringContaining('choose an empty one')])
  })

  test('commands refuse an unfinished copy and say how to continue', async () => {
    const dataDir = place('unfinished')
    await cellarbook(['log', 'copy', '--from', source, '--to', dataDir])
    const log = openSqliteLog({ dataDir })
    const [ended] = await log.readAll({ direction: 'backwards', limit: 1 })
    if (ended === undefined) throw new Error('there is no copy')
    const { stream, revision, position: _, ...event } = ended
    const data = { copyId: 'another' }
    await log.append(stream, revision, [{ ...event, id: crypto.randomUUID(), type: 'LogCopyBegun', data }])
    await log.close()
    const ran = await cellarbook(['key', 'list'], embedded(dataDir))
    expect([ran.exitCode, ran.stderr]).toEqual([78, expect.stringContaining(`Run "${program} log copy" again`)])
  })
})
