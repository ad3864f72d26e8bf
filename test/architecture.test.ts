import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { judgeText, layerOf, linesMax, violationsOf } from './support/rules/layers.ts'

const root = join(import.meta.dir, '..')

const textsOf = async (pattern: string): Promise<readonly (readonly [path: string, text: string])[]> => {
  const paths = [...new Glob(pattern).scanSync(root)].sort()
  return Promise.all(paths.map(async (path) => [path, await Bun.file(join(root, path)).text()] as const))
}

describe('the house', () => {
  test('keeps every rule of ARCHITECTURE.md in every file', async () => {
    const files = await textsOf('{src,projections,views}/**/*.{ts,tsx}')
    // A wrong pattern would find few files and so no violation.
    expect(files.length).toBeGreaterThan(100)
    expect(files.flatMap(([path, text]) => violationsOf(path, text))).toEqual([])
  }, 600_000)

  test('leaves no work undone in tests and benches either', async () => {
    const files = await textsOf('{test,bench}/**/*.{ts,tsx}')
    expect(files.flatMap(([path, text]) => judgeText(path, text))).toEqual([])
  })
})

/** One made-up file for each way to break a rule, and what `violationsOf` must say about it. */
const planted: [path: string, text: string, what: string][] = [
  ['src/domain/a.ts', `import { b } from '../actors/b.ts'`, 'domain may not import actors'],
  ['src/domain/a.ts', `import { b } from '../../projections/b.ts'`, 'domain may not import projections'],
  [
    'src/domain/a.ts',
    `import type { Clock } from '../clock.ts'`,
    'domain may not import parameters, not even its types',
  ],
  ['src/domain/a.ts', `import { readFile } from 'node:fs'`, 'domain may not import node:fs'],
  ['src/domain/a.ts', `import { t } from 'typebox'`, 'domain may not import typebox'],
  ['src/domain/a.ts', `import { randomBytes } from 'node:crypto'`, 'uses randomBytes of node:crypto'],
  ['src/domain/a.ts', `export { b } from '../http/b.ts'`, 'domain may not import http'],
  ['src/domain/a.ts', `export const a = () => import('../log/sqlite/sqlite-log.ts')`, 'domain may not import log'],
  ['src/domain/a.ts', 'export const a = () => Date.now()', 'uses Date'],
  ['src/domain/a.ts', 'export const a = () => new Date()', 'uses Date'],
  ['src/domain/a.ts', 'export const a = new Date(1, 2)', 'uses Date'],
  ['src/domain/a.ts', 'export const a = () => Math.random()', 'uses Math.random'],
  ['src/domain/a.ts', 'export const a = () => crypto.randomUUID()', 'uses crypto'],
  ['src/domain/a.ts', `export const a = () => Bun.file('x')`, 'uses Bun.file'],
  ['src/domain/a.ts', `export const a = () => fetch('x')`, 'uses fetch'],
  ['src/domain/a.ts', 'export const a = async () => {}', 'waits'],
  ['src/domain/a.ts', 'export const a = (b) => { b = process.env }', 'uses process'],
  ['projections/a.ts', `import { b } from '../src/log/event-log.ts'`, 'projections may not import port'],
  [
    'projections/a.ts',
    `import type { b } from '../src/actors/core-interface.ts'`,
    'projections may not import actors, not even',
  ],
  ['projections/a.ts', `import { b } from 'elysia'`, 'projections may not import elysia'],
  ['projections/a.ts', 'export const a = () => performance.now()', 'uses performance'],
  ['views/a.tsx', `import { b } from '../src/domain/text.ts'`, 'views may not import domain'],
  [
    'views/a.tsx',
    `import type { b } from '../src/actors/core-interface.ts'`,
    'views may not import actors, not even its types',
  ],
  ['views/a.tsx', 'export const A = () => <p>{new Date().toISOString()}</p>', 'uses Date'],
  ['views/a.tsx', 'export const A = async () => <p />', 'waits'],
  ['src/actors/a.ts', `import { b } from '../http/problem.ts'`, 'actors may not import words'],
  ['src/actors/a.ts', `import { b } from '../log/sqlite.ts'`, 'actors may not import log'],
  ['src/actors/a.ts', `import { systemClock } from '../clock.ts'`, 'actors may not import parameters'],
  ['src/actors/a.ts', `import { Elysia } from 'elysia'`, 'actors may not import elysia'],
  ['src/log/a.ts', `import { b } from '../actors/core.ts'`, 'log may not import actors'],
  ['src/log/a.ts', `import { type C, systemClock } from '../clock.ts'`, 'log may not import parameters'],
  ['src/log/a.ts', `import type { b } from '../derived/b.ts'`, 'log may not import derived, not even its types'],
  ['src/derived/a.ts', `import { b } from '../actors/core.ts'`, 'derived may not import actors'],
  ['src/http/a.ts', `import { b } from '../log/sqlite.ts'`, 'http may not import log'],
  ['src/http/a.ts', `import { b } from '../cli/b.ts'`, 'http may not import cli'],
  ['src/http/a.ts', `import { b } from '../app.ts'`, 'http may not import app'],
  ['src/password-judge/a.ts', `import { b } from 'elysia'`, 'password judge may not import elysia'],
  ['src/cli/a.ts', `import { b } from '../http/serve.ts'`, 'cli may not import http'],
  ['src/http/a.ts', 'export const a = new Response(null, { status: 429 })', 'decides status 429'],
  ['src/actors/a.ts', 'export const a = { status: 503 }', 'decides status 503'],
  ['src/http/a.ts', 'start()', 'does something when it is imported'],
  ['src/http/a.ts', 'for (const a of []) a()', 'does something when it is imported'],
  ['src/log/a.ts', 'const table = []\nfor (const [code] of []) table[code] = ask(code)', 'does something when'],
  ['src/http/a.ts', 'export const a = await b()', 'waits when it is imported'],
  ['src/http/a.ts', 'export default 1', 'exports by default'],
  ['src/http/a.ts', 'export default function a() {}', 'exports by default'],
  ['src/http/a.ts', `// ${'TO'}${'DO'}: later`, 'leaves work undone'],
  ['src/http/a.ts', '\n'.repeat(linesMax + 1), `has ${linesMax + 1} lines`],
  ['src/elsewhere/a.ts', '', 'lies in no layer'],
]

describe('the rules', () => {
  for (const [path, text, what] of planted) {
    test(`find that ${path} ${what}: ${text.trim().slice(0, 60).replaceAll('\n', ' ')}`, () => {
      const violations = violationsOf(path, text)
      expect(violations).toHaveLength(1)
      expect(violations[0]).toContain(what)
    })
  }

  test('let through what only looks like a breach', () => {
    const harmless: [path: string, text: string][] = [
      ['src/domain/a.ts', '// Never new Date(text), nor await.\nexport const a = "Date.now() Math.random()"'],
      ['src/domain/a.ts', 'export const a = `line one\\n new Date().toISOString()`'],
      ['src/domain/a.ts', 'export type A = { Date: string; process: number }\nexport const a = (b: A) => b.process'],
      ['src/domain/a.ts', `import { timingSafeEqual } from 'node:crypto'\nexport const a = Bun.hash.crc32(b)`],
      ['views/a.tsx', `import type { b } from '../src/domain/text.ts'\nimport { c } from './c.ts'`],
      ['views/a.tsx', `import { type B } from '../projections/queries.ts'`],
      ['src/actors/a.ts', `import type { Clock } from '../clock.ts'\nexport const a = async () => Date.now()`],
      ['src/main.ts', `import { systemClock } from './clock.ts'\nawait start()`],
      ['src/http/problem.ts', 'export const a = { status: 429 }'],
      ['src/http/a.ts', '\n'.repeat(linesMax)],
      ['src/log/a.ts', 'const table = []\nfor (const [code, digit] of [].entries()) table[code] = digit'],
      ['src/http/a.ts', 'export const a = (b) => { switch (b) { default: return { status: 200 } } }'],
    ]
    expect(harmless.flatMap(([path, text]) => violationsOf(path, text))).toEqual([])
  })

  test('know each layer by its folder, and the port and the words by their file', () => {
    expect(layerOf('src/log/event-log.ts')).toBe('port')
    expect(layerOf('src/log/copy-log.ts')).toBe('log')
    expect(layerOf('src/http/problem.ts')).toBe('words')
    expect(layerOf('src/http/ingest/api-routes.ts')).toBe('http')
    expect(layerOf('elsewhere.ts')).toBeNull()
  })
})
