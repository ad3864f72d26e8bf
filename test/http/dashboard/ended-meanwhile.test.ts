import { expect, test } from 'bun:test'
import { heldHasher } from '../../support/held-hasher.ts'
import { emailOf, testPassword } from '../../support/test-operators.ts'
import { testAsker } from '../../support/test-service.ts'
import { until } from '../../support/time/until.ts'
import { signedIn, startWithOperators } from './visitor.ts'

/** Signs the admin in. All later password hashes wait until the test ends them. */
const startHeld = async () => {
  const passwordHasher = heldHasher()
  const service = await startWithOperators({ passwordHasher })
  const signing = signedIn(service, 'admin')
  await until(() => passwordHasher.underWay === 1)
  passwordHasher.endOne()
  return { passwordHasher, service, admin: await signing }
}

test('an admin who is removed during the password comparison gets no link', async () => {
  const { passwordHasher, service, admin } = await startHeld()
  try {
    // A second admin is needed, because the last admin cannot be removed.
    await service.core.operators.setRole(emailOf.auditor, 'admin', testAsker)
    await admin.get('/operators')
    const fields = { email: emailOf.auditor, role: 'admin', own_password: testPassword }
    const asked = admin.post('/operators/links', fields)
    await until(() => passwordHasher.underWay === 1)
    expect(await service.core.operators.remove(emailOf.admin, testAsker)).toMatchObject({ ok: true })
    passwordHasher.endOne()
    const answer = await asked
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
  } finally {
    await service.stop()
  }
})

test('a session that ends during the password comparison changes no password', async () => {
  const { passwordHasher, service, admin } = await startHeld()
  try {
    await admin.get('/account')
    const [session] = service.core.operators.openSessions(emailOf.admin)
    const password = 'not the old one at all'
    const asked = admin.post('/account/password', { own_password: testPassword, password })
    await until(() => passwordHasher.underWay === 1)
    await service.core.operators.endSessions(emailOf.admin, { id: session?.id ?? '' }, testAsker)
    passwordHasher.endAll()
    const answer = await asked
    expect([answer.status, answer.location]).toEqual([303, '/sign-in'])
    expect(service.core.operators.openSessions(emailOf.admin)).toHaveLength(0)
  } finally {
    await service.stop()
  }
})
