import type { Faults } from '../forms/field-faults.ts'
import { htmlPage } from '../page-answers.tsx'
import type { Visit } from '../visit.ts'

/** Shows the form again, and says how long to wait. */
export const tooManyAttempts = async (
  visit: Visit,
  waitMs: number,
  again: (faults: Faults) => JSX.Element,
): Promise<Response> => {
  const minutes = Math.ceil(waitMs / 60_000)
  const wait = `Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, then try again.`
  const form = `Too many attempts for this account or from this address. ${wait}`
  const answer = await htmlPage(visit, again({ form }), 429)
  answer.headers.set('Retry-After', String(Math.ceil(waitMs / 1_000)))
  return answer
}
