import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '..')

const pathsOf = (pattern: string): readonly string[] =>
  [...new Glob(pattern).scanSync(root)].filter((path) => !path.includes('node_modules/')).sort()

const allPaths = pathsOf('**/*')
const documents = pathsOf('*.md').concat(pathsOf('docs/**/*.md'), pathsOf('test/*.md'))
const settings = pathsOf('{Dockerfile,compose*.yaml}').concat(pathsOf('deploy/{Caddyfile,pin-images}'))
const code = pathsOf('{src,test,views,projections,bench,deploy}/**/*.{ts,tsx}')

const textOf = (path: string): Promise<string> => Bun.file(join(root, path)).text()

/** Returns only the comments of a source file. A string in code may name a file that is not in this repository. */
const commentsOf = (source: string): string =>
  source
    .split('\n')
    .filter((line) => /^\s*(\/?\*|\/\/)/.test(line))
    .map((line) => line.replace(/^\s*(\/?\*+\/?|\/\/)/, ''))
    .join('\n')

/**
 * Returns the text in which references are searched. Line breaks become spaces, because a reference can continue on the next
 * line.
 */
const proseOf = async (path: string): Promise<string> => {
  const text = await textOf(path)
  if (settings.includes(path)) return text.replace(/^ *#/gm, '').replace(/\s+/g, ' ')
  return (path.endsWith('.md') ? text.replace(/^```.*?^```/gms, '') : commentsOf(text)).replace(/\s+/g, ' ')
}

const filesNamedIn = (prose: string): readonly string[] =>
  [...prose.matchAll(/(?<![\w./@-])((?:[\w-]+\/)*[\w-]+(?:\.test)?\.(?:tsx?|md))(?![\w-])/g)].map(
    ([, name = '']) => name,
  )

/**
 * Finds references to a heading: a document, a comma and the heading in quotes. The document may be a link. Several
 * headings may follow, joined by `and` or commas.
 */
const headingsNamedIn = (prose: string): readonly (readonly [file: string, heading: string])[] =>
  [...prose.matchAll(/([\w/-]+\.md)\)?`?,((?:(?: and|,)? "[^"]+")+)/g)].flatMap(([, file = '', quoted = '']) =>
    [...quoted.matchAll(/"([^"]+)"/g)].map(([, heading = '']) => [file, heading] as const),
  )

const fileOf = (name: string): string | null =>
  allPaths.find((path) => path === name || path.endsWith(`/${name}`)) ?? null

const headingsOf = async (path: string): Promise<readonly string[]> =>
  [...(await textOf(path)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)

/** References of one file to a file or a heading that does not exist. */
const faultsOf = async (path: string): Promise<readonly string[]> => {
  const prose = await proseOf(path)
  const faults = filesNamedIn(prose)
    .filter((name) => fileOf(name) === null)
    .map((name) => `${path}: there is no ${name}`)
  for (const [name, heading] of headingsNamedIn(prose)) {
    const file = fileOf(name)
    if (file !== null && !(await headingsOf(file)).includes(heading))
      faults.push(`${path}: ${name} has no "${heading}"`)
  }
  return faults
}

describe('a reference', () => {
  test('in a comment or a document names a file and a heading that exist', async () => {
    const checked = [...documents, ...settings, ...code]
    expect(checked.length).toBeGreaterThan(500)
    expect((await Promise.all(checked.map(faultsOf))).flat()).toEqual([])
  })

  test('as a link of a document leads to a file', async () => {
    for (const path of documents) {
      const text = await textOf(path)
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#|mailto:|\/)([^)#\s]+)/g)) {
        expect([path, target, await Bun.file(join(root, dirname(path), target)).exists()]).toEqual([path, target, true])
      }
    }
  })

  test('is read across lines and with several headings', () => {
    const prose = 'see `docs/contract.md`, "Keys" and "Rate limiting", or [x](docs/a.md), "B"'
    expect(headingsNamedIn(prose)).toEqual([
      ['docs/contract.md', 'Keys'],
      ['docs/contract.md', 'Rate limiting'],
      ['docs/a.md', 'B'],
    ])
    expect(filesNamedIn('by `domain/no.ts`, and x/y.test.ts')).toEqual(['domain/no.ts', 'x/y.test.ts'])
  })
})
