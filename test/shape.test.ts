/** Tests the shape of the code and the language of all texts. CONTRIBUTING.md, "Write it", has the rules in words. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { commentsOf, longSentences, proseOf, titlesOf, titleWordsMax, wordsOf } from './support/rules/plain-english.ts'
import {
  crowdedFolders,
  filesPerFolderMax,
  functionLinesMax,
  importCircles,
  longFunctions,
  packagesLoadedBy,
  type SourceText,
  sharedNames,
} from './support/rules/shape.ts'

const root = join(import.meta.dir, '..')

const textsOf = (pattern: string): Promise<readonly SourceText[]> =>
  Promise.all(
    [...new Glob(pattern).scanSync(root)]
      .sort()
      .map(async (path) => [path, await Bun.file(join(root, path)).text()] as const),
  )

const product = await textsOf('{src,projections,views,deploy}/**/*.{ts,tsx}')
const around = await textsOf('{test,bench}/**/*.{ts,tsx}')
const documents = [...(await textsOf('*.md')), ...(await textsOf('{docs,test}/**/*.md'))]
const everything = [...product, ...around]

/** Functions that may be longer, because neither half could be understood without the other. There are none now. */
const longOnPurpose: readonly string[] = []

describe('the shape of the code', () => {
  test('is seen whole', () => {
    expect(product.length).toBeGreaterThan(200)
    expect(around.length).toBeGreaterThan(200)
    expect(documents.length).toBeGreaterThan(30)
  })

  test(`keeps at most ${filesPerFolderMax} files in a folder`, () => {
    expect(crowdedFolders(everything.map(([path]) => path))).toEqual([])
  })

  test('gives every file a name of its own', () => {
    const named = everything.map(([path]) => path).filter((path) => !/\.test\.tsx?$|\/main\.ts$/.test(path))
    expect(sharedNames(named)).toEqual([])
  })

  test(`keeps every function within ${functionLinesMax} lines`, () => {
    expect(product.flatMap(longFunctions)).toEqual([...longOnPurpose])
  })

  test('has no import circle, not even of types', () => {
    expect(importCircles(product)).toEqual([])
  })

  // When an import loaded this client by mistake, each batch of 1,000 readings took a tenth more processor time.
  test('loads the client of EventStoreDB only with that log', () => {
    const loaded = [...packagesLoadedBy('src/run-commands.ts', product)]
    expect(loaded).toContain('elysia')
    expect(loaded.filter((name) => /eventstore|grpc|protobuf/.test(name))).toEqual([])
  })

  // With everything loaded, each check of a container's health took 0.25 s of processor time and 85 MB.
  test('loads no package before it knows the command', () => {
    expect([...packagesLoadedBy('src/main.ts', product)].filter((name) => !name.startsWith('node:'))).toEqual([])
  })
})

describe('plain English', () => {
  test('keeps sentences short in comments', () => {
    const long = everything.flatMap(([path, text]) =>
      commentsOf(path, text).flatMap((comment) =>
        longSentences(comment.text).map((sentence) => `${path}:${comment.line} ${sentence}`),
      ),
    )
    expect(long).toEqual([])
  }, 600_000)

  test('keeps sentences short in documents', () => {
    const long = documents.flatMap(([path, text]) =>
      proseOf(text).flatMap((passage) =>
        longSentences(passage.text).map((sentence) => `${path}:${passage.line} ${sentence}`),
      ),
    )
    expect(long).toEqual([])
  })

  test(`keeps titles of tests within ${titleWordsMax} words`, () => {
    const long = around
      .flatMap(([path, text]) => titlesOf(path, text).map((title) => ({ path, ...title })))
      .filter(({ text }) => wordsOf(text) > titleWordsMax)
    expect(long.map(({ path, line, text }) => `${path}:${line} ${text}`)).toEqual([])
  }, 600_000)
})

describe('the rules of shape and language', () => {
  const lines = (count: number): string => '\n'.repeat(count - 1)

  test('find a crowded folder, and let a full one pass', () => {
    const files = Array.from({ length: filesPerFolderMax }, (_, index) => `src/a/${index}.ts`)
    expect(crowdedFolders([...files, 'src/a/b/more.ts'])).toEqual([])
    expect(crowdedFolders([...files, 'src/a/more.ts'])).toEqual(['src/a holds 21 files'])
  })

  test('find two files of one name', () => {
    expect(sharedNames(['src/a/key.ts', 'views/key.tsx', 'src/key-form.ts'])).toEqual([
      'src/a/key.ts and views/key.tsx',
    ])
  })

  test('find a function that is one line too long', () => {
    expect(longFunctions(['src/a.ts', `const fits = () => {${lines(functionLinesMax)}}`])).toEqual([])
    expect(longFunctions(['src/a.ts', `const long = () => {${lines(functionLinesMax + 1)}}`])).toEqual([
      'src/a.ts long',
    ])
    expect(longFunctions(['src/a.ts', `class A { #b() {${lines(functionLinesMax + 1)}} }`])).toEqual(['src/a.ts #b'])
  })

  test('find a circle of types, and no circle in a chain', () => {
    const chain: SourceText[] = [
      ['src/a.ts', `import { b } from './b/b.ts'`],
      ['src/b/b.ts', `import { c } from '../c.ts'`],
    ]
    expect(importCircles([...chain, ['src/c.ts', '']])).toEqual([])
    expect(importCircles([...chain, ['src/c.ts', `import type { A } from './a.ts'`]])).toEqual([
      ['src/a.ts', 'src/b/b.ts', 'src/c.ts'],
    ])
  })

  test('find a package behind several files, but none behind types or import()', () => {
    const files: SourceText[] = [
      [
        'src/main.ts',
        `import { b } from './b/b.ts'\nimport type { D } from './d.ts'\nconst d = () => import('./d.ts')`,
      ],
      ['src/b/b.ts', `export { c } from '../c.ts'`],
      ['src/c.ts', `import grpc from 'grpc'`],
      ['src/d.ts', `import 'heavy'`],
    ]
    expect([...packagesLoadedBy('src/main.ts', files)]).toEqual(['grpc'])
  })

  test('find a sentence that is one word too long, in comments and in prose', () => {
    const sentence = (words: number): string => `${'word '.repeat(words - 1)}end.`
    const inComment = (text: string) => commentsOf('a.ts', text).flatMap((comment) => longSentences(comment.text))
    expect(inComment(`/** ${sentence(25)} ${sentence(25)} */\nexport const a = 1`)).toEqual([])
    expect(inComment(`/**\n * Short. ${sentence(26)}\n */\nexport const a = 1`)).toEqual([sentence(26)])
    expect(inComment(`const a = 1 // ${'word '.repeat(13)}\n// ${sentence(13)}`)).toHaveLength(1)
    expect(inComment(`const a = '// ${sentence(26)}'`)).toEqual([])
    expect(proseOf(`# ${sentence(30)}\n\n- ${sentence(26)}\n`).flatMap(({ text }) => longSentences(text))).toHaveLength(
      1,
    )
  })

  test('read the titles of tests and groups, also of tables', () => {
    const source = `describe('one', () => { test('two', f); test.each([['no']])('three %s', f) })`
    expect(titlesOf('a.test.ts', source).map(({ text }) => text)).toEqual(['one', 'two', 'three %s'])
  })
})
