import { describe, expect, test } from 'bun:test'
import { everyPage, harmless, type Page, type TextField, type Texts } from './every-page.ts'

const hostileTexts = [
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '"autofocus onfocus="alert(1)',
  "'; rm -rf ~ #",
  '</script><script>alert(1)</script>',
  '</title></textarea></pre></code><svg onload=alert(1)>',
  '<!-- ',
  ']]><b>',
  '&quot; onclick=&quot;alert(1)',
  '&lt;b&gt;&amp;&#34;&#x27;',
  '<hx-partial hx-target="body">owned</hx-partial>',
  'javascript:alert(1)',
  '{{7*7}}$[7*7]',
  '\u202Eabc\u2066',
  '\u0000\u0001',
  '\n',
  '\n\nafter two newlines',
  '`',
  '=',
  '\\',
  '🍷',
  '=HYPERLINK("https://example.com","=1+1")',
  'قبو النبيذ \u05d9\u05e7\u05d1',
  'W'.repeat(300),
]

type Element = { readonly tag: string; readonly attributes: readonly (readonly [name: string, value: string])[] }

const parse = async (page: Page): Promise<readonly Element[]> => {
  const elements: Element[] = []
  const rewriter = new HTMLRewriter().on('*', {
    element: ({ tagName, attributes }) => {
      elements.push({ tag: tagName, attributes: [...attributes].map(([name, value]) => [name ?? '', value ?? '']) })
    },
  })
  await rewriter.transform(new Response(await page.html)).text()
  return elements
}

/** Lists elements and attribute names. Our own marks of hidden characters are left out, because hostile text adds them. */
const shape = (elements: readonly Element[]): readonly string[] =>
  elements
    .filter((element) => value(element, 'class') !== 'hidden-character')
    .map(({ tag, attributes }) => `${tag} ${attributes.map(([name]) => name).join(' ')}`)

/** Returns the text of a page that is outside of fields, code and attributes. */
const textOf = async (page: Page): Promise<string> => {
  let text = ''
  let inField = 0
  const rewriter = new HTMLRewriter()
    .on('textarea, pre', {
      element: (element) => {
        inField += 1
        element.onEndTag(() => {
          inField -= 1
        })
      },
    })
    .onDocument({
      text: (piece) => {
        if (inField === 0) text += piece.text
      },
    })
  await rewriter.transform(new Response(await page.html)).text()
  return text
}

const value = ({ attributes }: Element, name: string): string | undefined =>
  attributes.find(([known]) => known === name)?.[1]

const isFault = (element: Element): boolean =>
  value(element, 'aria-invalid') === 'true' || ['fault-box', 'field refused'].includes(value(element, 'class') ?? '')

/** Reverses `escapeHtml` and `attribute()`. */
const decode = (text: string): string =>
  text
    .replaceAll('&#34;', '"')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

const plainPages = everyPage(harmless)

describe('text from people and devices', () => {
  test.each(hostileTexts)('%j in every field adds no element or attribute to any page', async (text) => {
    for (const [at, page] of everyPage(() => text).entries()) {
      const plain = plainPages[at]
      if (plain === undefined) throw new Error(`No harmless page beside "${page.name}"`)
      expect({ page: page.name, shape: shape(await parse(page)) }).toEqual({
        page: plain.name,
        shape: shape(await parse(plain)),
      })
    }
  })

  test.each(hostileTexts)('%j comes back unchanged from a form', async (text) => {
    for (const page of everyPage((field) => (field === 'typed' ? text : harmless(field)))) {
      const html = await page.html
      for (const input of await parse(page)) {
        if (input.tag !== 'input' || value(input, 'type') !== 'text' || value(input, 'value') === '') continue
        const shown = decode(value(input, 'value') ?? '')
        expect([text, harmless('title'), harmless('label'), harmless('unit'), '30d', '365', '2020-01-01']).toContain(
          shown,
        )
      }
      for (const [, inner] of html.matchAll(/<textarea[^>]*>([\s\S]*?)<\/textarea>/g)) {
        // An HTML parser drops the first newline of a textarea, so a page writes one before the text.
        expect(['', text, harmless('note')]).toContain(decode((inner ?? '').replace(/^\n/, '')))
      }
    }
  })

  test.each([
    ['a\u200bb', 'U+200B'],
    ['\u202egnp.exe', 'U+202E'],
    ['a\u2066b', 'U+2066'],
    ['\ufeffa', 'U+FEFF'],
    ['a\u00adb', 'U+00AD'],
    ['a\u061cb', 'U+061C'],
    ['a\u{e0041}', 'U+E0041'],
    ['\u0301a', 'U+0301'],
  ])('%j is marked on every page', async (text, code) => {
    const bare = [...text].find(
      (character) => character !== 'a' && /[\p{Default_Ignorable_Code_Point}\p{M}]/u.test(character),
    )
    let marks = 0
    // The program itself chooses the texts of these fields, so they cannot be hostile.
    const ours: readonly TextField[] = ['timestamp', 'url', 'notice']
    for (const page of everyPage((field) => (ours.includes(field) ? 'a' : text))) {
      const shown = await textOf(page)
      expect({ page: page.name, bare: shown.includes(bare ?? '?') }).toEqual({ page: page.name, bare: false })
      marks += shown.split(code).length - 1
    }
    expect(marks).toBeGreaterThan(100)
  })

  test('keeps the joiners of an emoji and the lines of a note', async () => {
    for (const page of everyPage(() => '👩\u200d🔬 ❤\ufe0f\nsecond')) {
      expect({ page: page.name, marked: (await page.html).includes('hidden-character') }).toEqual({
        page: page.name,
        marked: false,
      })
    }
  })

  test('appears whole on its page', async () => {
    const about: readonly (readonly [page: string, fields: readonly TextField[]])[] = [
      ['cellars', ['cellar', 'title', 'notice', 'email']],
      ['readings', ['cellar', 'title', 'rack', 'keg', 'unit', 'timestamp', 'label']],
      ['keys-suspended', ['label', 'reason', 'email']],
      ['key-revoked', ['label', 'note', 'reason', 'email', 'title']],
      ['key-auditor', ['typed', 'fault']],
      ['first-reading', ['rack', 'keg', 'unit']],
      ['operator-link', ['email', 'url']],
      ['new-key-refused', ['fault', 'typed', 'title']],
    ]
    const marked: Texts = (field) => `<${field}> & "${field}"`
    const pages = new Map(everyPage(marked).map((page) => [page.name, page]))
    for (const [name, fields] of about) {
      const html = decode((await pages.get(name)?.html) ?? '')
      for (const field of fields) expect({ name, shows: html.includes(marked(field)) }).toEqual({ name, shows: true })
    }
  })
})

describe.each(plainPages.map((page) => [page.name, page] as const))('page %s', (_, page) => {
  test('has no inline script or style', async () => {
    for (const element of await parse(page)) {
      const names = element.attributes.map(([name]) => name)
      expect(names.filter((name) => name === 'style' || name.startsWith('on') || name.startsWith('hx-on'))).toEqual([])
      expect(element.tag).not.toBe('style')
      if (element.tag === 'script') expect(value(element, 'src')).toStartWith('/assets/')
    }
    expect(await page.html).not.toMatch(/<script[^>]*>[^<]/)
  })

  test('has a token in every POST form, and unique ids', async () => {
    const html = await page.html
    const forms = html.match(/<form[\s\S]*?<\/form>/g) ?? []
    for (const form of forms.filter((form) => form.includes('method="post"'))) {
      expect(form).toContain('<input type="hidden" name="_csrf" value="c5rf-token"/>')
    }
    const elements = await parse(page)
    const ids = elements.flatMap((element) => value(element, 'id') ?? [])
    expect(ids).toEqual([...new Set(ids)])
  })

  test('gives the focus to its first fault', async () => {
    const elements = await parse(page)
    const first = elements.findIndex(isFault)
    const focused = elements.findIndex((element) => value(element, 'autofocus') !== undefined)
    const inside =
      first !== -1 && /^(fieldset|div)$/.test(elements[first]?.tag ?? '')
        ? [first + 1, elements.length]
        : [first, first]
    if (first !== -1) expect(focused).toBeWithin(inside[0] ?? 0, (inside[1] ?? 0) + 1)
  })

  test('has a target for every label, description and live update', async () => {
    const elements = await parse(page)
    const ids = new Set(elements.flatMap((element) => value(element, 'id') ?? []))
    for (const element of elements) {
      const pointers = [
        value(element, 'for'),
        ...(value(element, 'aria-describedby')?.split(' ') ?? []),
        value(element, 'aria-labelledby'),
        value(element, 'hx-target')?.slice(1),
        value(element, 'data-copy')?.slice(1),
        value(element, 'data-chooses')?.slice(1),
      ]
      for (const pointer of pointers) if (pointer !== undefined) expect([...ids]).toContain(pointer)
      if (value(element, 'hx-sse:connect') !== undefined) expect(value(element, 'hx-sse:connect')).toStartWith('/live/')
    }
  })
})

test('an auditor’s pages have no form or link that changes anything except the session', async () => {
  const pages = plainPages.filter((page) => page.name.includes('auditor'))
  expect(pages.length).toBeGreaterThanOrEqual(4)
  for (const page of pages) {
    const elements = await parse(page)
    // A form with `data-asks` only asks.
    const posts = elements.filter(
      (element) => value(element, 'method') === 'post' && value(element, 'data-asks') === undefined,
    )
    // An export adds only a record of itself.
    const changing = posts.map((form) => value(form, 'action')).filter((action) => action !== '/exports')
    expect(changing).toEqual(['/sign-out'])
    const links = elements.flatMap((element) => value(element, 'href') ?? [])
    expect(links.filter((href) => /\/(new|edit|suspend|resume|revoke|role|remove|unit)$/.test(href))).toEqual([])
  }
})

test('the page of a new key shows the key, also in one shell line', async () => {
  const created = await plainPages.find((page) => page.name === 'key-created')?.html
  expect(created?.match(/clr_7Qp2abCd_4f/g)).toHaveLength(2)
})

test('pages with curves are the same if they are made in pieces', async () => {
  let turns = 0
  const turn = async (): Promise<void> => {
    turns += 1
  }
  const inPieces = everyPage(harmless, turn)
  expect(turns).toBeGreaterThan(inPieces.filter(({ name }) => name.startsWith('keg')).length)
  for (const [number, page] of everyPage(harmless).entries()) expect(await inPieces[number]?.html).toBe(await page.html)
})
