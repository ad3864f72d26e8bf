import { withoutSecrets } from '../../../domain/text.ts'
import { seeOther } from '../page-answers.tsx'
import type { Visit } from '../visit.ts'

/**
 * Answers a form that only asks, with a redirect to the page with the answer. People paste whole API keys into such forms, so a
 * browser without JavaScript sends them by POST. Then the secret is in no address.
 */
export const askedByForm =
  (...fields: readonly string[]) =>
  (_: unknown, visit: Visit): Response => {
    const typed = fields
      .map((name): [string, string] => [name, withoutSecrets(visit.form(name))])
      .filter(([, text]) => text !== '')
    return seeOther(visit, `${visit.path}?${new URLSearchParams(typed)}`)
  }
