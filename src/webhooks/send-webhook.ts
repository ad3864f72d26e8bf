/**
 * Sends one request to an address that an admin typed, on a network where strangers may answer. The name is looked up once, and
 * the request goes to an address that was checked: a second look-up could give another address.
 */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Sent } from '../actors/webhooks/webhook-parts.ts'
import { hostOf, loopbackOf } from '../domain/attention/webhook-url.ts'
import { withoutSecrets } from '../domain/text.ts'
import { webhookAnswerBytesMax, webhookAnswerCharsMax, webhookMsMax } from '../limits.ts'
import { type Schedule, systemSchedule } from '../schedule.ts'
import { connectable, type PrivateAddresses } from './connectable.ts'

export type WebhookRequest = {
  /** As `checkedUrl` returns it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Ends the request, and closes its connection. */
  readonly signal?: AbortSignal
}

export type SendSettings = {
  readonly privateAddresses: PrivateAddresses
  readonly resolve?: (name: string) => Promise<readonly string[]>
  readonly schedule?: Schedule
  readonly msMax?: number
  /** In place of the authorities that the system trusts. */
  readonly authority?: string
}

/** Nothing that a server or a resolver does makes it throw. */
export const sendWebhook = async (request: WebhookRequest, settings: SendSettings): Promise<Sent> => {
  const { schedule = systemSchedule, msMax = webhookMsMax } = settings
  const begunMs = performance.now()
  const ended = new AbortController()
  const stop = (): void => ended.abort(new NotSent('The service stopped'))
  const cancel = schedule.after(msMax, () => ended.abort(new NotSent(`No answer within ${msMax / 1000} s`)))
  request.signal?.addEventListener('abort', stop)
  if (request.signal?.aborted) stop()
  const heard: Heard = { status: null, answer: Buffer.alloc(0) }
  let why: string | null = null
  try {
    await unlessAborted(exchange(request, settings, { heard, signal: ended.signal }), ended.signal)
  } catch (cause) {
    why = whyOf(cause)
  }
  cancel()
  request.signal?.removeEventListener('abort', stop)
  // Closes the connection. A server could send an answer without an end.
  ended.abort()
  const { status } = heard
  const tookMs = Math.round(performance.now() - begunMs)
  if (status === null) return { status, answer: null, why, tookMs }
  return { status, answer: shownAnswer(heard.answer), why: isRedirect(status) ? noRedirects : null, tookMs }
}

/** Why no request was sent, or no answer was waited for, in words of ours. */
class NotSent extends Error {}

/** What was received until now. */
type Heard = { status: number | null; answer: Buffer }
type Course = { readonly heard: Heard; readonly signal: AbortSignal }

const exchange = async (request: WebhookRequest, settings: SendSettings, course: Course): Promise<void> => {
  const url = new URL(request.url)
  const response = await post(await addressesOf(hostOf(url), settings), { ...request, url }, { settings, course })
  course.heard.status = response.status
  const reader = response.body?.getReader()
  while (reader !== undefined && course.heard.answer.length < webhookAnswerBytesMax) {
    const { done, value } = await reader.read()
    if (done) return
    const room = webhookAnswerBytesMax - course.heard.answer.length
    course.heard.answer = Buffer.concat([course.heard.answer, value.subarray(0, room)])
  }
}

/** @throws NotSent if one of the addresses is refused: a name with one private address can be an attack */
const addressesOf = async (host: string, settings: SendSettings): Promise<readonly string[]> => {
  const loopback = loopbackOf(host)
  if (loopback !== null) return loopback
  const { privateAddresses, resolve = systemResolve } = settings
  const found = isIP(host) === 0 ? await resolve(host) : [host]
  if (found.length === 0) throw new NotSent(`${host} has no address`)
  const addresses = found.map((address) => {
    const checked = connectable(address, privateAddresses)
    if (checked !== null) return checked
    throw new NotSent(`${host === address ? host : `${host} is ${address}, which`} is not a public address`)
  })
  // A machine without IPv6 can have names with such addresses.
  return addresses.toSorted((one, other) => isIP(one) - isIP(other)).slice(0, addressesTriedMax)
}

const addressesTriedMax = 4

const systemResolve = async (name: string): Promise<readonly string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address)

type Target = Omit<WebhookRequest, 'url'> & { readonly url: URL }
type Way = { readonly settings: SendSettings; readonly course: Course }

/** Tries the next address only if nothing was sent. */
const post = async ([address, ...others]: readonly string[], target: Target, way: Way): Promise<Response> => {
  if (address === undefined) throw new NotSent('No address')
  try {
    return await postTo(address, target, way)
  } catch (cause) {
    if (others.length === 0 || !notConnected.has(codeOf(cause))) throw cause
    return post(others, target, way)
  }
}

const notConnected: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'FailedToOpenSocket'])

const postTo = (address: string, { url, headers, body }: Target, { settings, course }: Way): Promise<Response> => {
  const to = new URL(url)
  to.hostname = isIP(address) === 6 ? `[${address}]` : address
  if (isIP(hostOf(to)) === 0) throw new Error(`"${address}" is not an IP address`)
  const host = hostOf(url)
  return fetch(to, {
    method: 'POST',
    headers: { ...headers, host: url.host.replace(/\.(?=:|$)/, ''), 'accept-encoding': 'identity' },
    body,
    signal: course.signal,
    redirect: 'manual',
    // A proxy would look the name up again. An open connection could be to an address that has changed its owner.
    proxy: false,
    keepalive: false,
    // A few bytes can become a very long text.
    decompress: false,
    protocol: 'http1.1',
    tls: {
      rejectUnauthorized: true,
      ...(isIP(host) === 0 ? { serverName: host } : {}),
      ...(settings.authority === undefined ? {} : { ca: settings.authority }),
    },
  })
}

/** A promise of `fetch` or of a resolver need not settle in time. */
const unlessAborted = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    work.then(resolve, reject)
  })

const isRedirect = (status: number): boolean => status >= 300 && status < 400
const noRedirects = 'A redirect is not followed. Use the address that it leads to'

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : 'the request failed'

const whyOf = (cause: unknown): string => {
  if (cause instanceof NotSent) return cause.message
  const code = codeOf(cause)
  return whyByCode[code] ?? `No answer: ${code}`
}

const whyByCode: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name has no address',
  ECONNREFUSED: 'Nothing listens at this address',
  ECONNRESET: 'The connection was closed without an answer',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another name',
  ResponseHeadersTooLarge: 'The headers of the answer are too large',
  Malformed_HTTP_Response: 'The answer is not HTTP',
}

const shownAnswer = (bytes: Buffer): string =>
  withoutSecrets(new TextDecoder().decode(bytes))
    // Characters without a width could reverse the text around them.
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, webhookAnswerCharsMax)
    .toWellFormed()
