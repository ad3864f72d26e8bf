/**
 * docs/security.md names the tests that show each security requirement. Each named file and test title must exist. Each
 * requirement has one row, with evidence or with a reason why there is none. Each promise of SECURITY.md also has a
 * row.
 */
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './support/cellarbook.ts'

/** The ten risks of the OWASP API Security Top 10 (2023). */
const risks = Array.from({ length: 10 }, (_, index) => `API${index + 1}`)

/** The requirements of levels 1 and 2 in OWASP ASVS 5.0. `1.1.1-2` means 1.1.1 and 1.1.2. */
const requirementTexts = `
1.1.1-2 1.2.1-9 1.3.1-11 1.4.1-3 1.5.1-2 2.1.1-3 2.2.1-3 2.3.1-4 2.4.1 3.2.1-2 3.3.1-4 3.4.1-6 3.5.1-5 3.7.1-2 4.1.1-3 4.2.1
4.3.1-2 4.4.1-4 5.1.1 5.2.1-3 5.3.1-2 5.4.1-3 6.1.1-3 6.2.1-12 6.3.1-4 6.4.1-4 6.5.1-5 6.6.1-3 6.8.1-4 7.1.1-3 7.2.1-4
7.3.1-2 7.4.1-5 7.5.1-2 7.6.1-2 8.1.1-2 8.2.1-3 8.3.1 8.4.1 9.1.1-3 9.2.1-4 10.1.1-2 10.2.1-2 10.3.1-4 10.4.1-11 10.5.1-5
10.6.1-2 10.7.1-3 11.1.1-2 11.2.1-3 11.3.1-3 11.4.1-4 11.5.1 11.6.1 12.1.1-3 12.2.1-2 12.3.1-4 13.1.1 13.2.1-5 13.3.1-2
13.4.1-5 14.1.1-2 14.2.1-4 14.3.1-3 15.1.1-3 15.2.1-3 15.3.1-7 16.1.1 16.2.1-5 16.3.1-4 16.4.1-3 16.5.1-3 17.1.1 17.2.1-4
17.3.1-2
`

const requirements = requirementTexts
  .trim()
  .split(/\s+/)
  .flatMap((text) => {
    const [, section = '', numbers = ''] = /^(\d+\.\d+)\.(.+)$/.exec(text) ?? []
    return numbers.split(',').flatMap((part) => numbersOf(part).map((number) => `${section}.${number}`))
  })

function numbersOf(range: string): readonly number[] {
  const [first = 0, last = first] = range.split(/[-–]/).map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

type Row = { readonly ids: readonly string[]; readonly name: string; readonly evidence: string }

const rowsOf = (document: string): readonly Row[] =>
  document
    .split('\n')
    .filter((line) => /^\| (API)?\d/.test(line))
    .map((line) => {
      const [name = '', , ...rest] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return { ids: name.split(', ').flatMap(idsOf), name, evidence: rest.join('|') }
    })

/**
 * Returns the ids that a row names: `6.2.1`, a range such as `6.2.1–4`, or `10 (all)` for all that begin with `10.`.
 */
const idsOf = (text: string): readonly string[] => {
  const [, prefix] = /^(\d+(?:\.\d+)?) \(all\)$/.exec(text) ?? []
  if (prefix !== undefined) return requirements.filter((id) => id.startsWith(`${prefix}.`))
  const [, section, range] = /^(\d+\.\d+)\.(\d+(?:–\d+)?)$/.exec(text) ?? []
  if (section === undefined || range === undefined) return [text]
  return numbersOf(range).map((number) => `${section}.${number}`)
}

/** Returns the first sentence of each promise in the table of SECURITY.md, by which the document must name it. */
const promisesOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => {
    const [, promise] = /^\| (?!promised)(.+?\.) /.exec(line) ?? []
    return promise === undefined ? [] : [promise]
  })

type ReadText = (path: string) => string | null

const faultsOf = (document: string, read: ReadText): readonly string[] => {
  const rows = rowsOf(document)
  const named = rows.flatMap(({ ids }) => ids)
  const known = new Set([...risks, ...requirements])
  return [
    ...[...known].filter((id) => !named.includes(id)).map((id) => `${id} has no row`),
    ...named.filter((id, index) => named.indexOf(id) !== index).map((id) => `${id} has two rows`),
    ...named.filter((id) => !known.has(id)).map((id) => `${id} is no requirement`),
    ...promisesOf(read('SECURITY.md') ?? '')
      .filter((promise) => !document.includes(`\n| ${promise} `))
      .map((promise) => `no row for the promise “${promise}”`),
    ...rows.filter((row) => !isAnswered(row)).map(({ name }) => `${name} has neither evidence nor a reason`),
    ...referencesOf(document).flatMap((reference) => faultsOfReference(reference, read)),
  ]
}

const isAnswered = ({ evidence }: Row): boolean =>
  referencesOf(evidence).length > 0 || /Not covered, because \S.{15}|^Does not apply: there \S.{5}/.test(evidence)

type Reference = { readonly path: string; readonly titles: readonly string[] }

/** Finds references to tests: a path in backticks, and behind it titles in curly quotation marks. */
const referencesOf = (text: string): readonly Reference[] =>
  [...text.matchAll(/`([\w./-]*[\w-]\.(?:tsx?|md|ya?ml|json|lock))`((?:,? “[^”]+”)*)/g)].map(
    ([, path = '', titles = '']) => ({
      path,
      titles: [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => title),
    }),
  )

const faultsOfReference = ({ path, titles }: Reference, read: ReadText): readonly string[] => {
  const text = read(path)
  if (text === null) return [`${path} is not there`]
  if (path.endsWith('.test.ts') && titles.length === 0) return [`${path} is named without a title`]
  return titles.filter((title) => !hasTitle(text, title, path)).map((title) => `${path} has no “${title}”`)
}

/**
 * True if the document has this heading, or a string of the test contains this title. A title of `test.each` is only a
 * part of its string.
 */
const hasTitle = (text: string, title: string, path: string): boolean => {
  const lines = text.split('\n')
  if (path.endsWith('.md')) return lines.some((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title)
  return lines.some((line) => new RegExp(`['"\`].*${RegExp.escape(title)}`).test(line))
}

const readFromHere: ReadText = (path) => {
  const file = join(root, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

const document = readFileSync(join(root, 'docs/security.md'), 'utf8')

describe('docs/security.md', () => {
  test('has evidence or a reason for every requirement, and names existing tests', () => {
    expect(requirements).toHaveLength(253)
    expect(promisesOf(readFromHere('SECURITY.md') ?? '').length).toBeGreaterThan(20)
    expect(faultsOf(document, readFromHere)).toEqual([])
  })

  test.each([
    [
      'a title that is changed',
      '“every mounted route has a row',
      '“no mounted route has a row',
      'has no “no mounted route',
    ],
    [
      'a file that is gone',
      'test/http/routes-and-roles.test.ts',
      'test/http/gone.test.ts',
      'gone.test.ts is not there',
    ],
    ['a row that is gone', /\n\| API7 [^\n]*/, '', 'API7 has no row'],
    [
      'a promise that is gone',
      '| A key is shown once',
      '| A key is shown twice',
      'no row for the promise “A key is shown once',
    ],
    ['a requirement twice', /\n(\| API7 [^\n]*)/, '\n$1\n$1', 'API7 has two rows'],
    ['a requirement of another level', '| 6.3.2 ', '| 6.3.8 ', '6.3.8 is no requirement'],
    ['a row without evidence', /\n\| API7 [^\n]*/, '\n| API7 | Requests | All is well. |', 'API7 has neither'],
    ['a reason without words', /\n\| API7 [^\n]*/, '\n| API7 | Requests | Not covered, because |', 'API7 has neither'],
    ['a test without a title', /(`test\/http\/routes-and-roles.test.ts`) “[^|]*/, '$1 ', 'is named without a title'],
    ['a heading that is changed', '“Bounds for clients”', '“Bounds”', 'docs/operations.md has no “Bounds”'],
  ] as const)('is refused with %s', (_, from, to, fault) => {
    const spoilt = document.replace(from, to)
    expect(spoilt).not.toBe(document)
    expect(faultsOf(spoilt, readFromHere).join('\n')).toContain(fault)
  })
})
