import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askService } from '../../src/cli/control/control-client.ts'
import { encodeFrame } from '../../src/cli/control/control-protocol.ts'
import { cellarbook, newFolder } from '../support/cellarbook.ts'

setDefaultTimeout(600_000)

const folder = newFolder()
afterAll(() => folder.remove())

let count = 0
const freshFolder = (): string => {
  const path = join(folder.path, `data-${count++}`)
  mkdirSync(path, { mode: 0o700 })
  return path
}

const servers: Bun.Server<unknown>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
})

const socketAt = (path: string) => {
  const sent: string[] = []
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(await request.text())
    return new Response(encodeFrame({ end: { exitCode: 0, message: null } }))
  }
  const maskBefore = process.umask(0o177)
  servers.push(Bun.serve({ unix: path, fetch }))
  process.umask(maskBefore)
  return sent
}

const operation = { op: 'list_cellars' } as const
const ownId = process.geteuid?.() ?? 0
const ownedBy = (uid: number) => () => ({ uid, isSocket: () => true })

describe('askService()', () => {
  test('sends a command to a socket of its own user or of root', async () => {
    const dataDir = freshFolder()
    const sent = socketAt(join(dataDir, 'control.sock'))
    for (const look of [undefined, ownedBy(ownId), ownedBy(0)]) {
      expect(await askService(dataDir, operation, look)).not.toBeNull()
    }
    expect(sent).toHaveLength(3)
  })

  test('sends nothing to a socket of another user', async () => {
    const dataDir = freshFolder()
    const path = join(dataDir, 'control.sock')
    const sent = socketAt(path)
    const asked = askService(dataDir, operation, ownedBy(ownId + 1))
    const why = `it belongs to user ${ownId + 1}, and this command runs as user ${ownId}. Run it as user ${ownId + 1}`
    await expect(asked).rejects.toMatchObject({
      exitCode: 78,
      message: `Cannot trust "${path}", so nothing was sent: ${why}`,
    })
    expect(sent).toEqual([])
  })
})

describe('a command', () => {
  test('sends nothing through a link to a socket', async () => {
    const [dataDir, elsewhere] = [freshFolder(), join(freshFolder(), 'other.sock')]
    const sent = socketAt(elsewhere)
    symlinkSync(elsewhere, join(dataDir, 'control.sock'))
    const ran = await cellarbook(['cellar', 'list'], { DATA_DIR: dataDir })
    expect([ran.exitCode, ran.stdout, sent]).toEqual([78, '', []])
    expect(ran.stderr).toBe(
      `cellarbook: Cannot trust "${join(dataDir, 'control.sock')}", so nothing was sent: it is not a socket. Remove it\n`,
    )
  })

  test('refuses a file in place of the socket', async () => {
    const dataDir = freshFolder()
    writeFileSync(join(dataDir, 'control.sock'), '', { mode: 0o600 })
    const ran = await cellarbook(['cellar', 'create', 'a'], { DATA_DIR: dataDir })
    expect([ran.exitCode, ran.stdout]).toEqual([78, ''])
    expect(ran.stderr).toContain('it is not a socket. Remove it')
  })
})
