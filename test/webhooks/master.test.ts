import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WebhookMaster } from '../../src/actors/webhooks/webhook-parts.ts'
import { type MasterPlace, masterFileName, openMaster } from '../../src/webhooks/master.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/temporary-folder.ts'

let folder: TemporaryFolder
let path: string

const ones = (count: number): Uint8Array => new Uint8Array(count).fill(1)
const opened = (given: Uint8Array | null = null, changed: Partial<MasterPlace> = {}) =>
  openMaster({ given, dataDir: folder.path, hasEmbeddedLog: true, newBytes: ones, ...changed })
const master = (given: Uint8Array | null = null): WebhookMaster => {
  const found = opened(given)
  if ('why' in found) throw new Error(found.why)
  return found
}
const whyNot = (): string => {
  const found = opened()
  return 'why' in found ? found.why : ''
}

beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, masterFileName)
})
afterEach(() => folder.remove())

describe('openMaster()', () => {
  test('makes a file that only its owner can read, and uses it from then on', () => {
    const first = master()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toBe(`${Buffer.from(ones(32)).toString('base64')}\n`)
    writeFileSync(path, Buffer.alloc(32, 2).toString('base64'))
    expect(master().id).not.toBe(first.id)
  })

  test('gives each webhook a secret of its own, which only the master decides', () => {
    const { id, secretOf } = master(ones(32))
    expect(id).toMatch(/^[0-9a-f]{8}$/)
    expect(secretOf('a')).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(new Set([secretOf('a'), secretOf('b'), master(ones(33)).secretOf('a'), secretOf('id')]).size).toBe(4)
    expect(master()).toMatchObject({ id })
    expect(master().secretOf('a')).toBe(secretOf('a'))
  })

  test('prefers the master of the configuration, and makes no file', () => {
    expect(master(ones(40)).id).toHaveLength(8)
    expect(existsSync(path)).toBe(false)
  })

  test('makes no file with EventStoreDB, where nodes would differ', () => {
    expect(opened(null, { hasEmbeddedLog: false })).toEqual({ why: expect.stringContaining('WEBHOOK_MASTER_FILE') })
    expect(existsSync(path)).toBe(false)
  })

  test('makes no file while webhooks have the master that is missing', () => {
    expect(opened(null, { newBytes: null })).toEqual({ why: expect.stringContaining('There is no file') })
    expect(existsSync(path)).toBe(false)
  })

  test.each([
    ['is cut off', () => writeFileSync(path, 'AQEB'), 'it must be 32 random bytes'],
    ['is no base64', () => writeFileSync(path, `${'A'.repeat(43)}!`), 'it must be 32 random bytes'],
    ['is empty', () => writeFileSync(path, ''), 'it must be 32 random bytes'],
    ['is a link', () => symlinkSync('/etc/hostname', path), 'symbolic link'],
    ['is a folder', () => mkdirSync(path), 'is a link, or no regular file'],
  ])('says why when the file %s, and does not replace it', (_, spoil, why) => {
    spoil()
    expect(whyNot()).toContain(why)
    expect(whyNot()).toContain(why)
  })
})
