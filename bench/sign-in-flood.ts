import { table } from './figures.ts'
import { type StartedLoad, startLoad, type Times } from './load/load-process.ts'
import type { SignInAttackers, SignInAttackersResult } from './load/sign-in-attackers.ts'
import { cookieOf, openSignIn } from './load/sign-in-form.ts'
import { type EmptyService, type ServiceOptions, startEmptyService } from './servers.ts'

const networks = 5_200
const connections = 128
const email = 'ada@example.org'
const password = 'twelve chars and more'
const adminAddress = '192.0.2.1'
/** An admin signs in every `everyMs`. A sign-in is in time if it takes at most `targetMs`. */
const everyMs = 500
const targetMs = 2_000

type Way = {
  readonly name: string
  readonly addresses: readonly string[]
  /** True if the admin's browser has an open session, by which the service can prefer it to strangers. */
  readonly isKnown: boolean
}

const oneSite = Array.from({ length: networks }, (_, at) => `2001:db8:1:${at.toString(16)}::1`)
const manyNetworks = Array.from({ length: 64 }, (_, at) => `198.51.100.${at + 1}`)
const manySites = Array.from({ length: networks }, (_, at) => `2001:db9:${at.toString(16)}::1`)

const ways: readonly Way[] = [
  { name: 'nobody', addresses: [], isKnown: false },
  { name: '5,200 networks of one /48', addresses: oneSite, isKnown: false },
  { name: '5,200 networks of one /48', addresses: oneSite, isKnown: true },
  { name: '64 IPv4 addresses', addresses: manyNetworks, isKnown: true },
  { name: '5,200 networks of /48', addresses: manySites, isKnown: true },
]

/** Measures how long an admin's sign-in takes while strangers guess passwords of unknown accounts. */
export const benchSignInFlood = async (seconds: number, { checkout }: ServiceOptions): Promise<void> => {
  const rows: string[][] = []
  for (const way of ways) rows.push(await measure(way, seconds, checkout === undefined ? {} : { checkout }))
  console.log(
    `\nAn admin signs in every ${everyMs} ms for ${seconds} s, beside strangers on ${connections} connections\n`,
  )
  const head = ['beside', 'browser', 'signed in', 'refused', 'p50 ms', 'max ms', 'their answers']
  console.log(table([head, ...rows]))
  console.log(`\nTarget: every sign-in succeeds within ${targetMs} ms.`)
}

const measure = async (way: Way, seconds: number, options: ServiceOptions): Promise<string[]> => {
  const service = await startEmptyService({ ...options, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  try {
    const cookie = await firstSession(service)
    const attackers = await startAttackers(service.url, way.addresses)
    const startMs = Date.now() + 500
    const times = { startMs, endMs: startMs + seconds * 1_000 }
    const [theirs, own] = await Promise.all([
      attackers?.askOnce(times) ?? null,
      signInAgain(service.url, way.isKnown ? cookie : '', times),
    ])
    return rowOf(way, own, theirs)
  } finally {
    await service.stop()
  }
}

const startAttackers = async (
  url: string,
  addresses: readonly string[],
): Promise<StartedLoad<Times, SignInAttackersResult> | null> =>
  addresses.length === 0
    ? null
    : startLoad<SignInAttackers, Times, SignInAttackersResult>('sign-in-attackers.ts', {
        url,
        connections,
        addresses,
      })

const firstSession = async (service: EmptyService): Promise<string> => {
  const [line] = await service.ask({ op: 'issue_link', email, role: 'admin' })
  if (line?.kind !== 'link') throw new Error('Cannot prepare the service: it made no link')
  const { pathname } = new URL(line.value.url)
  const headers = { 'X-Forwarded-For': adminAddress, 'X-Forwarded-Proto': 'https' }
  const page = await fetch(service.url + pathname, { headers })
  const token = /name="_csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const answer = await fetch(service.url + pathname, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...headers, Cookie: cookieOf(page) },
    body: new URLSearchParams({ _csrf: token, email, password }),
  })
  if (answer.status !== 303) throw new Error(`Cannot prepare the service: the link answered ${answer.status}`)
  return cookieOf(answer)
}

type Own = { readonly tookMs: readonly number[]; readonly refused: readonly number[] }

const signInAgain = async (url: string, cookie: string, { startMs, endMs }: Times): Promise<Own> => {
  const tookMs: number[] = []
  const refused: number[] = []
  const signIn = async (known: string): Promise<string> => {
    const begunMs = performance.now()
    const form = await openSignIn(url, adminAddress, known)
    const { status, cookie: next } = await form.submit({ email, password, address: adminAddress })
    if (status !== 303) {
      refused.push(status)
      return known
    }
    tookMs.push(performance.now() - begunMs)
    return known === '' ? '' : next
  }
  let known = cookie
  for (let atMs = startMs; atMs < endMs; atMs = Math.max(atMs + everyMs, Date.now())) {
    await Bun.sleep(Math.max(0, atMs - Date.now()))
    known = await signIn(known)
  }
  return { tookMs, refused }
}

const rowOf = ({ name, isKnown }: Way, { tookMs, refused }: Own, theirs: SignInAttackersResult | null): string[] => {
  const sorted = tookMs.toSorted((a, b) => a - b)
  const inTime = sorted.filter((ms) => ms <= targetMs).length
  const answers = Object.entries(theirs?.answers ?? {}).map(([status, count]) => `${status}: ${count}`)
  const counts = Object.entries(Object.groupBy(refused, (status) => status))
  return [
    name,
    isKnown ? 'known' : 'new',
    `${sorted.length}, in time ${inTime} of ${sorted.length + refused.length}`,
    counts.map(([status, all]) => `${status}: ${all?.length ?? 0}`).join(', '),
    sorted[Math.floor(sorted.length / 2)]?.toFixed(0) ?? '',
    sorted.at(-1)?.toFixed(0) ?? '',
    answers.join(', '),
  ]
}
