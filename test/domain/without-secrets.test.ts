import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { keyIdBytes, makeKey, makeKeyId, secretBytes } from '../../src/domain/key-format.ts'
import { withoutSecrets } from '../../src/domain/text.ts'

const id = '7Qp2mZ4k'
const secret = '4fXk9TqW2nLr8vYb5mZc7pGh3sJd6uKe1wAa0xQ94fG'

test.each([
  ['a key within a text', `see clr_${id}_${secret}h2J1k0, please`, `see clr_${id}, please`],
  ['two keys', `clr_${id}_${secret}h2J1k0/clr_${id}_${secret}h2J1k0`, `clr_${id}/clr_${id}`],
  ['a third of a secret', `clr_${id}_${secret.slice(0, 16)}`, `clr_${id}`],
  ['a one-time link', `https://example.org/link/${secret}`, 'https://example.org/link/'],
])('withoutSecrets() cuts %s', (_, text, cut) => {
  expect(withoutSecrets(text)).toBe(cut)
})

test.each([
  `clr_${id}_${secret.slice(0, 15)}`,
  `clr_${id}_old`,
  `clr_${id}_…`,
  `clr_${id}`,
  `https://example.org/link/${secret.slice(1)}`,
  '',
])('withoutSecrets() leaves %j', (text) => {
  expect(withoutSecrets(text)).toBe(text)
})

test('withoutSecrets() cuts the keys that are made', () => {
  const keyId = makeKeyId(new Uint8Array(keyIdBytes).fill(255))
  expect(withoutSecrets(makeKey(keyId, new Uint8Array(secretBytes)).key)).toBe(`clr_${keyId}`)
})

test('withoutSecrets() has the expression of app.js', () => {
  const expressionIn = (path: string): string | undefined =>
    /replace\((\/.*\/g), /.exec(readFileSync(path, 'utf8'))?.[1]
  const ours = expressionIn('src/domain/text.ts')
  const script = readFileSync('views/assets/app.js', 'utf8')
  expect([ours?.startsWith('/(clr_'), script.includes(`${ours}, `)]).toEqual([true, true])
})
