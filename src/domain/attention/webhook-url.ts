import { webhookUrlCharsMax } from '../../limits.ts'
import { done } from '../refusal.ts'
import { invalidField, type Typed, withoutSecrets } from '../text.ts'

/** These names are never looked up, because a resolver could give them another address. */
const loopbackAddresses: ReadonlyMap<string, readonly string[]> = new Map([
  ['localhost', ['127.0.0.1', '::1']],
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
])

/** `null`: the host does not always mean this machine. */
export const loopbackOf = (host: string): readonly string[] | null => loopbackAddresses.get(host) ?? null

/** Without the brackets of IPv6, and without the dot with which a full name can end. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, '')

/** The result is the address as `URL` writes it, so pages show the host that receives the requests. */
export const checkedUrl = (text: string): Typed<string> => {
  const typed = text.trim()
  if (typed.length > webhookUrlCharsMax) return refusedUrl(`must be at most ${webhookUrlCharsMax} characters.`)
  const url = /^https?:\/\/[^\s\\]+$/iu.test(typed) ? URL.parse(typed) : null
  if (url === null || hostOf(url) === '') return refusedUrl('must be like https://hooks.example/cellarbook.')
  if (url.href.length > webhookUrlCharsMax) return refusedUrl(`must be at most ${webhookUrlCharsMax} characters.`)
  if (url.username !== '' || url.password !== '') return refusedUrl('must have no user name and no password.')
  if (url.href.includes('#')) return refusedUrl('must have no part after "#".')
  if (url.port === '0') return refusedUrl('must have a port from 1 to 65535.')
  if (withoutSecrets(url.href) !== url.href) return refusedUrl('must not contain an API key or a sign-in link.')
  if (url.protocol === 'http:' && loopbackOf(hostOf(url)) === null) {
    return refusedUrl('must begin with https://. Only localhost, 127.0.0.1 and [::1] can be reached over http://.')
  }
  return done(url.href)
}

const refusedUrl = (rule: string): Typed<string> => invalidField('url', `The address ${rule}`)
