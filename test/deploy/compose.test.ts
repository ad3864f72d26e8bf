import { afterAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, root } from '../support/cellarbook.ts'

const folder = newFolder()
afterAll(() => folder.remove())

const composeText = readFileSync(join(root, 'compose.cluster.yaml'), 'utf8')
const lines = composeText.split('\n').filter((line) => !/^\s*#/.test(line))

/** Each entry is an image name with the variable that holds its digest. */
const images = lines.flatMap((line) => {
  const [, image] = /^\s*(?:image|BUN_IMAGE|BASE_IMAGE): (.*)$/.exec(line) ?? []
  return image === undefined ? [] : [image]
})
const pinned = /^([a-z/-]+:[\w.-]+)@sha256:\$\{([A-Z]+_DIGEST):\?[^}]+\}$/

describe('compose.cluster.yaml', () => {
  test('uses only images with a digest, except its own', () => {
    expect(images.length).toBeGreaterThanOrEqual(5)
    expect(images.filter((image) => !pinned.test(image))).toEqual(['cellarbook', 'cellarbook-build'])
    const base = readFileSync(join(root, 'Dockerfile'), 'utf8').match(/^FROM .*$/gm)
    expect(base).toEqual([`FROM \${BUN_IMAGE} AS build`, `FROM \${BASE_IMAGE}`])
  })

  test('gives the admin password only to the store and to store-user', () => {
    const uses = lines.filter((line) => line.includes('{EVENTSTORE_ADMIN_PASSWORD'))
    expect(uses.map((line) => line.trim().split(':')[0])).toEqual([
      'EVENTSTORE_DEFAULT_ADMIN_PASSWORD',
      'EVENTSTORE_DEFAULT_OPS_PASSWORD',
      'EVENTSTORE_ADMIN_URL',
    ])
    const users = lines.flatMap((line) => /(EVENTSTORE_\w*URL): esdb:\/\/(\w+):/.exec(line)?.slice(1) ?? [])
    expect(users).toEqual(['EVENTSTORE_URL', 'cellarbook', 'EVENTSTORE_ADMIN_URL', 'admin'])
  })
})

describe('deploy/Caddyfile', () => {
  test('keeps each key on one node, and sends other requests to the least busy', () => {
    const directives = readFileSync(join(root, 'deploy/Caddyfile'), 'utf8')
      .replaceAll(/^\s*#.*$/gm, '')
      .replaceAll(/\s+/g, ' ')
    expect(directives.match(/lb_policy .*? }/g)).toEqual(['lb_policy header X-API-Key { fallback least_conn }'])
  })
})

describe('deploy/pin-images', () => {
  /** `docker` is the text of a fake docker program, so that the script needs no network. */
  const pinImages = async (docker: string) => {
    const bin = join(folder.path, crypto.randomUUID())
    mkdirSync(bin)
    writeFileSync(join(bin, 'docker'), `#!/bin/sh\n${docker}\n`)
    chmodSync(join(bin, 'docker'), 0o755)
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` }
    const child = Bun.spawn(['sh', 'deploy/pin-images'], { cwd: root, env, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }

  test('prints a digest for every variable that the compose file requires', async () => {
    // The fake program prints its last argument, because the script names the image there.
    const ran = await pinImages(`for word; do :; done; printf 'sha256:%s\\n' "of-$word"`)
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    const expected = images.flatMap((image) => {
      const [, name, variable] = pinned.exec(image) ?? []
      return name === undefined ? [] : [`${variable}=of-${name}`]
    })
    const settings = ran.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    expect(settings.sort()).toEqual(expected.sort())
  })

  test('fails where there is no digest', async () => {
    const ran = await pinImages('echo "manifest unknown"')
    expect([ran.exitCode, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toStartWith('Cannot find the digest of ')
  })
})
