import { describe, expect, test } from 'bun:test'
import {
  type Attempt,
  SignInThrottle,
  signInAttemptsMax,
  signInSiteAttemptsMax,
  signInSubjectsMax,
  signInWindowMs,
} from '../../../../src/http/dashboard/door/sign-in-throttle.ts'
import { emailOf, testPassword } from '../../../support/test-operators.ts'
import type { Service, ServiceOptions } from '../../../support/test-service.ts'
import { signedIn, startWithOperators, type Visitor, visitor } from '../visitor.ts'

const ada: Attempt = { email: 'ada@x.org', isAccount: true, address: '10.0.0.1', device: null }
const stranger = (at: number, address: string): Attempt => ({
  email: `stranger-${at}@x.org`,
  isAccount: false,
  address,
  device: null,
})

/** Returns which counter is full, or `null` if the attempt was counted. */
const tried = (throttle: SignInThrottle, attempt: Attempt, nowMs = 0): string | null => {
  const answer = throttle.attempt(attempt, nowMs)
  return answer.isCounted ? null : answer.reason
}

const fill = (throttle: SignInThrottle, attempt: Attempt, count = signInAttemptsMax): void => {
  for (let at = 0; at < count; at += 1) expect(tried(throttle, attempt)).toBeNull()
}

const counted = (throttle: SignInThrottle, attempt: Attempt, nowMs = 0) => {
  const answer = throttle.attempt(attempt, nowMs)
  if (!answer.isCounted) throw new Error(`throttled: ${answer.reason}`)
  return answer
}

const ipv4 = (at: number): string => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}`

describe('the throttle of an account', () => {
  test('lets ten attempts through, from any address, in any spelling', () => {
    const throttle = new SignInThrottle()
    const answers = Array.from({ length: signInAttemptsMax + 1 }, (_, at) =>
      tried(throttle, { ...ada, email: at % 2 === 0 ? 'Ada@X.org' : ' ada@x.org ', address: ipv4(at) }),
    )
    expect(answers).toEqual([...Array(signInAttemptsMax).fill(null), 'account'])
  })

  test('treats an unknown e-mail the same', () => {
    const answersFor = (isAccount: boolean) => {
      const throttle = new SignInThrottle()
      return Array.from({ length: signInAttemptsMax + 1 }, (_, at) => {
        const answer = throttle.attempt({ ...ada, isAccount, address: ipv4(at) }, at)
        return answer.isCounted ? null : { waitMs: answer.waitMs, reason: answer.reason }
      })
    }
    expect(answersFor(false)).toEqual(answersFor(true))
    expect(answersFor(true).at(-1)).toEqual({ waitMs: signInWindowMs - signInAttemptsMax, reason: 'account' })
  })

  test('is never dropped, whatever strangers try', () => {
    const throttle = new SignInThrottle(8)
    for (let at = 0; at < signInAttemptsMax; at += 1) throttle.attempt({ ...ada, address: ipv4(at) }, 0)
    for (let at = 0; at < 1_000; at += 1) {
      throttle.attempt(stranger(at, ipv4(1_000 + at)), 0)
      throttle.attempt(stranger(at, `2001:db8:${at.toString(16)}::1`), 0)
    }
    expect(tried(throttle, { ...ada, address: '192.0.2.1' })).toBe('account')
  })

  test('forgets an attempt exactly when the window ends', () => {
    const throttle = new SignInThrottle()
    fill(throttle, ada)
    expect(throttle.attempt(ada, signInWindowMs - 1)).toEqual({ isCounted: false, waitMs: 1, reason: 'account' })
    expect(tried(throttle, ada, signInWindowMs)).toBeNull()
  })

  test('does not count a throttled attempt, so waiting helps', () => {
    const throttle = new SignInThrottle()
    fill(throttle, ada)
    for (let at = 0; at < 50; at += 1) throttle.attempt(ada, signInWindowMs - 1)
    expect(tried(throttle, ada, signInWindowMs)).toBeNull()
  })

  test('keeps no entry past the window', () => {
    const throttle = new SignInThrottle()
    for (let at = 0; at < 100; at += 1) {
      throttle.attempt({ ...ada, email: `${at}@x.org`, address: ipv4(at) }, 0)
      throttle.attempt({ ...ada, device: String(at) }, 0)
    }
    expect(throttle.size).toBe(300)
    throttle.attempt(ada, signInWindowMs)
    throttle.attempt({ ...ada, device: 'new' }, signInWindowMs)
    expect(throttle.size).toBe(3)
  })
})

describe('the throttle of an address', () => {
  test('lets ten attempts through at any accounts, and then none', () => {
    const throttle = new SignInThrottle()
    const answers = Array.from({ length: signInAttemptsMax + 1 }, (_, at) => tried(throttle, stranger(at, '10.0.0.1')))
    expect(answers).toEqual([...Array(signInAttemptsMax).fill(null), 'address'])
  })

  test('counts each /64 as one address', () => {
    const throttle = new SignInThrottle()
    for (let at = 0; at < signInAttemptsMax; at += 1) tried(throttle, stranger(at, `2001:db8:1:2::${at}`))
    expect(tried(throttle, stranger(99, '2001:db8:1:2:3:4:5:6'))).toBe('address')
    expect(tried(throttle, stranger(99, '2001:db8:1:3::1'))).toBeNull()
  })

  test('lets forty attempts through from one /48, and then none', () => {
    const throttle = new SignInThrottle()
    const answers = Array.from({ length: signInSiteAttemptsMax + 1 }, (_, at) =>
      tried(throttle, stranger(at, `2001:db8:1:${at.toString(16)}::1`)),
    )
    expect(answers).toEqual([...Array(signInSiteAttemptsMax).fill(null), 'address'])
    expect(tried(throttle, stranger(99, '2001:db8:2::1'))).toBeNull()
  })

  test('gives one /48 room for forty, and drops nobody else', () => {
    const throttle = new SignInThrottle(100)
    fill(throttle, { ...ada, email: 'bob@x.org' })
    fill(throttle, stranger(0, '10.0.0.2'))
    const before = throttle.size
    for (let at = 0; at < 5_200; at += 1) throttle.attempt(stranger(at + 1, `2001:db8:1:${at.toString(16)}::1`), 0)
    expect(throttle.size - before).toBe(2 * signInSiteAttemptsMax + 1)
    expect(tried(throttle, stranger(6_000, '10.0.0.1'))).toBe('address')
    expect(tried(throttle, stranger(0, '10.0.0.3'))).toBe('account')
  })

  test('is bounded, and drops the oldest entries first', () => {
    const throttle = new SignInThrottle()
    fill(throttle, stranger(0, ipv4(0)))
    for (let at = 1; at < signInSubjectsMax; at += 1) throttle.attempt(stranger(at, ipv4(at)), 0)
    expect(throttle.size).toBe(2 * signInSubjectsMax)
    expect(tried(throttle, stranger(1, ipv4(0)))).toBe('address')
    expect(tried(throttle, stranger(0, ipv4(1)))).toBe('account')
    throttle.attempt(stranger(signInSubjectsMax, ipv4(signInSubjectsMax)), 0)
    expect(throttle.size).toBe(2 * signInSubjectsMax)
    expect(tried(throttle, stranger(0, ipv4(0)))).toBeNull()
  })
})

describe('the throttle of a known browser', () => {
  const known: Attempt = { ...ada, device: 'hash of a device' }

  test('lets it in while account and address are locked', () => {
    const throttle = new SignInThrottle()
    fill(throttle, ada)
    expect(tried(throttle, ada)).toBe('account')
    expect(tried(throttle, stranger(0, ada.address))).toBe('address')
    expect(tried(throttle, known)).toBeNull()
  })

  test('lets ten attempts through, and locks no other browser', () => {
    const throttle = new SignInThrottle()
    fill(throttle, known)
    expect(tried(throttle, known)).toBe('device')
    expect(tried(throttle, { ...known, device: 'hash of another device' })).toBeNull()
    expect(tried(throttle, ada)).toBeNull()
  })

  test('counts it for each account', () => {
    const throttle = new SignInThrottle()
    fill(throttle, known)
    expect(tried(throttle, { ...known, email: 'bob@x.org' })).toBeNull()
  })

  test('does not forgive strangers when its owner signs in', () => {
    const throttle = new SignInThrottle()
    fill(throttle, ada)
    throttle.succeeded(counted(throttle, known))
    expect(tried(throttle, ada)).toBe('account')
  })
})

describe('an attempt that succeeded', () => {
  test('forgives an account and a known browser their earlier attempts', () => {
    const throttle = new SignInThrottle()
    for (const attempt of [ada, { ...ada, email: 'bob@x.org', address: '10.0.0.9', device: 'device' }]) {
      fill(throttle, attempt, signInAttemptsMax - 1)
      throttle.succeeded(counted(throttle, attempt))
      fill(throttle, { ...attempt, address: '10.0.0.2' })
    }
  })

  test('allows no more guesses at other accounts', () => {
    const throttle = new SignInThrottle()
    for (let at = 0; at < signInAttemptsMax; at += 1) {
      const own = throttle.attempt(ada, at)
      if (own.isCounted) throttle.succeeded(own)
      expect(tried(throttle, stranger(at, ada.address), at)).toBeNull()
    }
    expect(tried(throttle, stranger(99, ada.address), signInAttemptsMax)).toBe('address')
  })

  test('gives its address back one of several simultaneous attempts', () => {
    const throttle = new SignInThrottle()
    const own = counted(throttle, ada)
    for (let at = 1; at < signInAttemptsMax; at += 1) tried(throttle, stranger(at, ada.address))
    throttle.succeeded(own)
    throttle.succeeded(own)
    expect(tried(throttle, stranger(97, ada.address))).toBeNull()
    expect(tried(throttle, stranger(98, ada.address))).toBe('address')
  })
})

describe('an attempt that is taken back', () => {
  test('restores every counter', () => {
    for (const attempt of [ada, { ...ada, device: 'device' }, stranger(0, '2001:db8::1')]) {
      const throttle = new SignInThrottle()
      throttle.takeBack(counted(throttle, attempt))
      expect(throttle.size).toBe(0)
      fill(throttle, attempt, signInAttemptsMax - 1)
      const busy = counted(throttle, attempt)
      throttle.takeBack(busy)
      throttle.takeBack(busy)
      fill(throttle, attempt, 1)
      expect(tried(throttle, attempt)).not.toBeNull()
    }
  })
})

describe('POST /sign-in', () => {
  const post = (person: Visitor, email: string, password: string) =>
    person.post('/sign-in', { email, password, next: '' })

  const withService = async (run: (service: Service) => Promise<void>, options: ServiceOptions = {}): Promise<void> => {
    const service = await startWithOperators(options)
    try {
      await run(service)
    } finally {
      await service.stop()
    }
  }

  test('refuses even the right password when throttled, and says how long', () =>
    withService(async (service) => {
      const person = visitor(service.url)
      await person.get('/sign-in')
      const answers = []
      for (let at = 0; at < signInAttemptsMax + 2; at += 1) answers.push(await post(person, emailOf.admin, 'wrong'))
      const statuses = answers.map(({ status }) => status)
      expect(statuses).toEqual([...Array(signInAttemptsMax).fill(401), 429, 429])
      const refused = await post(person, emailOf.admin, testPassword)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(signInWindowMs / 1_000)])
      service.clock.advance(signInWindowMs)
      expect((await post(person, emailOf.admin, testPassword)).status).toBe(303)
    }))

  test('lets an office behind one address sign in, but stops guesses', () =>
    withService(async (service) => {
      const attempt = async (email: string, password: string) => {
        const person = visitor(service.url)
        await person.get('/sign-in')
        return (await post(person, email, password)).status
      }
      const rightOnes = []
      for (let at = 0; at <= signInAttemptsMax; at += 1) rightOnes.push(await attempt(emailOf.admin, testPassword))
      expect(rightOnes).toEqual(Array(signInAttemptsMax + 1).fill(303))
      const guesses = []
      for (let at = 0; at <= signInAttemptsMax; at += 1) guesses.push(await attempt(`${at}@x.org`, 'wrong'))
      expect(guesses).toEqual([...Array(signInAttemptsMax).fill(401), 429])
    }))

  test('counts IPv4 clients once in any notation, and NAT64 clients each', () =>
    withService(
      async (service) => {
        const person = visitor(service.url)
        await person.get('/sign-in', { 'X-Forwarded-For': '192.0.2.250', 'X-Forwarded-Proto': 'https' })
        let guesses = 0
        const guessFrom = async (address: string): Promise<number> => {
          guesses += 1
          const fields = { email: `${guesses}@x.org`, password: 'wrong', next: '' }
          const headers = { 'X-Forwarded-For': address, 'X-Forwarded-Proto': 'https' }
          return (await person.post('/sign-in', fields, headers)).status
        }
        const spellings = [
          '192.0.2.9',
          '::FFFF:192.0.2.9',
          '::ffff:c000:209',
          '64:ff9b::192.0.2.9',
          '64:FF9B::c000:209',
        ]
        for (let at = 0; at < signInAttemptsMax; at += 1) {
          expect(await guessFrom(spellings[at % spellings.length] ?? '')).toBe(401)
        }
        for (const address of spellings) expect([address, await guessFrom(address)]).toEqual([address, 429])
        expect(await guessFrom('64:ff9b::192.0.2.10')).toBe(401)
        expect(await guessFrom('::ffff:192.0.2.11')).toBe(401)
      },
      { web: { trustedProxies: ['127.0.0.1'] } },
    ))

  test('lets a known browser in while strangers keep the account locked', () =>
    withService(async (service) => {
      const known = await signedIn(service, 'admin')
      const guesser = visitor(service.url)
      await guesser.get('/sign-in')
      for (let at = 0; at <= signInAttemptsMax; at += 1) await post(guesser, emailOf.admin, 'wrong')
      expect((await post(guesser, emailOf.admin, testPassword)).status).toBe(429)
      expect((await post(known, emailOf.admin, testPassword)).status).toBe(303)
    }))

  test('stops a known browser that guesses, and trusts it for no other account', () =>
    withService(async (service) => {
      const known = await signedIn(service, 'admin')
      for (let at = 0; at < signInAttemptsMax; at += 1) {
        expect((await post(known, emailOf.admin, 'wrong')).status).toBe(401)
      }
      expect((await post(known, emailOf.admin, testPassword)).status).toBe(429)
      for (let at = 0; at < signInAttemptsMax; at += 1) {
        expect((await post(known, emailOf.auditor, 'wrong')).status).toBe(401)
      }
      const stranger = visitor(service.url)
      await stranger.get('/sign-in')
      expect((await post(stranger, emailOf.auditor, testPassword)).status).toBe(429)
    }))
})
