import { describe, expect, test } from 'bun:test'
import { checkedUrl } from '../../../src/domain/attention/webhook-url.ts'
import { webhookUrlCharsMax } from '../../../src/limits.ts'

const ruleOf = (text: string): string | null => {
  const checked = checkedUrl(text)
  return checked.ok ? null : checked.refusal.rule
}

describe('checkedUrl()', () => {
  test.each([
    [' https://Hooks.Example:443/a?b=c ', 'https://hooks.example/a?b=c'],
    ['https://bücher.example', 'https://xn--bcher-kva.example/'],
    ['https://hooks.example./', 'https://hooks.example./'],
    ['https://0x7f.1/', 'https://127.0.0.1/'],
    ['https://[::ffff:10.0.0.1]/', 'https://[::ffff:a00:1]/'],
    ['http://localhost:8080/a', 'http://localhost:8080/a'],
    ['http://localhost./', 'http://localhost./'],
    ['http://127.0.0.1/', 'http://127.0.0.1/'],
    ['http://2130706433/', 'http://127.0.0.1/'],
    ['http://[0:0::1]:80/', 'http://[::1]/'],
  ])('takes %p in its usual form', (text, value) => {
    expect(checkedUrl(text)).toEqual({ ok: true, value })
  })

  test.each([
    ['', 'like https'],
    ['hooks.example', 'like https'],
    ['https:hooks.example', 'like https'],
    ['https:/\\hooks.example', 'like https'],
    ['https://', 'like https'],
    ['https://hooks.example/a b', 'like https'],
    ['https://hooks.exa\nmple/', 'like https'],
    ['https://hooks.example\\@other.example/', 'like https'],
    ['ftp://hooks.example/', 'like https'],
    ['file:///etc/passwd', 'like https'],
    ['https://[::1%25lo]/', 'like https'],
    ['https://./', 'like https'],
    ['https://anna@hooks.example/', 'user name'],
    ['https://:word@hooks.example/', 'user name'],
    ['https://hooks.example/#a', '"#"'],
    ['https://hooks.example/#', '"#"'],
    ['https://hooks.example:0/', 'port'],
    [`https://hooks.example/clr_7Qp2mZ4k_${'a'.repeat(40)}`, 'API key'],
    ['http://hooks.example/', 'begin with https'],
    ['http://127.0.0.2/', 'begin with https'],
    ['http://[::ffff:127.0.0.1]/', 'begin with https'],
    ['http://localhost.example/', 'begin with https'],
    ['http://constructor/', 'begin with https'],
  ])('refuses %p', (text, rule) => {
    expect(ruleOf(text)).toContain(rule)
  })

  test('bounds the address as it was typed and as it is kept', () => {
    const longest = `https://h.example/${'a'.repeat(webhookUrlCharsMax - 18)}`
    expect(ruleOf(longest)).toBeNull()
    expect(ruleOf(`${longest}a`)).toContain('characters')
    expect(ruleOf(`https://h.example/${'ü'.repeat(400)}`)).toContain('characters')
  })
})
