import { describe, expect, test } from 'bun:test'
import { paths } from '../../../../views/paths.ts'
import { validReading } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from '../visitor.ts'

const hostileTexts = [
  '"><img src=x onerror=alert(1)>',
  "'; rm -rf ~ #",
  '</title></textarea></script><svg onload=alert(1)>',
  '" autofocus onfocus="alert(1)',
  '&quot;><b>&lt;i>',
  '<hx-partial hx-target="body">owned</hx-partial>',
  'javascript:alert(1)',
  '\u202Egnp.exe\u2066',
  '$(id)`id`\\',
]

type Page = { readonly name: string; readonly html: string }

/** Types the text into every field and every variable part of a URL. Returns all pages that may show the text. */
const tour = async (text: string): Promise<readonly Page[]> => {
  const service = await startWithOperators()
  const admin = await signedIn(service, 'admin')
  const pages: Page[] = []
  const keep = (name: string, html: string): string => {
    pages.push({ name, html })
    return html
  }
  const see = async (name: string, path: string, person: Visitor = admin) => keep(name, (await person.get(path)).body)
  const send = async (name: string, path: string, fields: Readonly<Record<string, string>>, person = admin) =>
    keep(name, (await person.post(path, fields)).body)

  await admin.get(paths.newCellar)
  await send('cellar refused', paths.cellars, { cellar: ` ${text}`, title: text })
  await send('cellar', paths.cellars, { cellar: text, title: text })
  await see('cellars', paths.cellars)
  for (const status of ['active', 'all'] as const) {
    await see(`keys ${status}`, paths.keys(text, { words: [text], status }))
    await see(`all keys ${status}`, paths.allKeys({ words: [text], status }))
  }
  await send('keys asked', paths.keys(text), { find: text, sort: text })
  const typed = {
    label: text,
    note: `${text}\r\n${text}`,
    expires: text,
    expires_on: text,
    limit_readings: text,
    limit_seconds: text,
  }
  const form = await see('new key', paths.newKey(text))
  const _key_id = /name="_key_id" value="([^"]*)"/.exec(form)?.[1] ?? ''
  await send('key refused', paths.newKey(text), { ...typed, _key_id: text })
  const rightly = { ...typed, expires: 'never', limit_readings: '', limit_seconds: '' }
  const made = await send('key', paths.newKey(text), { ...rightly, _key_id })
  await send('key again', paths.newKey(text), { ...rightly, _key_id })
  const [key = '', keyId = ''] = /clr_([0-9A-Za-z]{8})_[0-9A-Za-z]{49}/.exec(made) ?? []
  expect((await service.post({ ...validReading, cellar: text, rack: text, keg: text }, key)).status).toBe(200)
  await service.untilFolded(keyId, 1)
  await see('readings', paths.cellar(text))
  await see('rack', paths.rack(text, text))
  await see('log of the rack', paths.log({ cellar: text, rack: text }))
  await see('settings', paths.settings(text))
  await send('title refused', paths.rename(text), { title: text.repeat(40) })
  await send('title', paths.rename(text), { title: `${text}!` })
  await send('policy', paths.policy(text), {
    limit_readings: text,
    limit_seconds: text,
    age_max: text,
    ahead_max: text,
  })
  await see('edit', paths.editKey(keyId))
  await send('edit refused', paths.editKey(keyId), typed)
  await send('edited', paths.editKey(keyId), { ...rightly, label: `${text}!`, expires: 'keep' })
  for (const path of [paths.suspendKey(keyId), paths.resumeKey(keyId), paths.revokeKey(keyId)]) {
    await see(`asked ${path.split('/')[3]}`, path)
    await send(`refused ${path.split('/')[3]}`, path, { reason: text.repeat(100) })
    await send(`done ${path.split('/')[3]}`, path, { reason: text })
  }
  await send('revoked for good', paths.resumeKey(keyId), { reason: text })
  await see('history', `${paths.key(keyId)}?at=${encodeURIComponent(text)}&status=${encodeURIComponent(text)}`)
  await see('list of revoked', `${paths.keys(text)}?status=revoked`)
  await see('list of nothing', `${paths.keys(text)}?status=${encodeURIComponent(text)}`)
  await see('operators', paths.operators)
  await send('link refused', paths.operatorLinks, { email: text, role: text })
  await send('link', paths.operatorLinks, { email: `${text.replaceAll(/[\s@]/g, '')}@example.org`, role: 'auditor' })
  await see('operators after', paths.operators)
  await see('nothing here', `/${encodeURIComponent(text)}`)
  await send('token refused', paths.cellars, { cellar: text, title: text, _csrf: text })
  const nobody = visitor(service.url)
  await see('sign-in', `/sign-in?next=${encodeURIComponent(`/${text}`)}`, nobody)
  await send('sign-in refused', '/sign-in', { email: text, password: text, next: `/${text}` }, nobody)
  await see('link spent', `/link/${encodeURIComponent(text)}`, nobody)
  const link = await service.core.operators.issueLink(
    { email: null, role: 'admin' },
    { by: { kind: 'cli' }, requestId: 'test' },
  )
  if (!link.ok) throw new Error(link.refusal.kind)
  await see('set-up', paths.link(link.value.secret), nobody)
  const chosen = { email: text, password: `twelve chars ${text}` }
  await send('set-up refused', paths.link(link.value.secret), chosen, nobody)
  await service.stop()
  expect(service.lines.filter(({ level }) => level === 'error')).toEqual([])
  return pages
}

/** Lists the elements and attribute names of a page. Our own marks of hidden characters are left out. */
const shapeOf = async ({ html }: Page): Promise<readonly string[]> => {
  const shape: string[] = []
  const rewriter = new HTMLRewriter().on('*', {
    element: (element) => {
      if (element.getAttribute('class') === 'hidden-character') return
      shape.push(`${element.tagName} ${[...element.attributes].map(([name]) => name).join(' ')}`)
    },
  })
  await rewriter.transform(new Response(html)).text()
  return shape
}

describe('hostile text in any field', () => {
  test('adds no element and no attribute to any page', async () => {
    const harmless = await tour('harmless')
    expect(harmless.length).toBeGreaterThan(35)
    const shapes = await Promise.all(harmless.map(shapeOf))
    for (const text of hostileTexts) {
      const hostile = await tour(text)
      expect(hostile.map(({ name }) => name)).toEqual(harmless.map(({ name }) => name))
      for (const [at, page] of hostile.entries()) {
        expect([text, page.name, await shapeOf(page)]).toEqual([text, page.name, [...(shapes[at] ?? [])]])
      }
      const marked = hostile.filter(({ html }) => html.includes('>U+202E</span>'))
      if (text.includes('\u202e')) expect(marked.length).toBeGreaterThan(20)
      else expect(marked).toEqual([])
    }
  }, 600_000)
})
