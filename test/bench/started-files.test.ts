import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { startBare } from '../../bench/servers.ts'

const bench = join(import.meta.dir, '../../bench')

/** Finds strings such as `join(import.meta.dir, 'load/ingest-load.lua')`, because no compiler checks such a path. */
const joinedPaths = (text: string): readonly string[] =>
  [...text.matchAll(/join\(import\.meta\.dir, '([^']+\.(?:ts|lua))'\)/g)].map(([, path = '']) => path)

const namedFiles = (text: string, name: RegExp): readonly string[] =>
  [...text.matchAll(name)].map(([, file = '']) => file)

test('every file that a measurement starts exists', async () => {
  const started: string[] = []
  for (const path of new Glob('**/*.ts').scanSync(bench)) {
    const text = await Bun.file(join(bench, path)).text()
    started.push(
      ...joinedPaths(text).map((joined) => join(bench, path, '..', joined)),
      ...namedFiles(text, /startLoad<[^>]+>\('([^']+)'/g).map((file) => join(bench, 'load', file)),
      ...namedFiles(text, /startScript\('([^']+)'/g).map((file) => join(bench, 'peers', file)),
      ...namedFiles(text, /script: '([^']+\.lua)'/g).map((file) => join(bench, path, '..', file)),
    )
  }
  expect(started.length).toBeGreaterThan(15)
  expect(started.filter((path) => !existsSync(path))).toEqual([])
})

test('the bare server of the measurements starts and answers', async () => {
  const server = await startBare()
  try {
    const answer = await fetch(server.url, { method: 'POST', body: '{}' })
    expect(answer.status).toBe(200)
  } finally {
    await server.stop()
  }
})
