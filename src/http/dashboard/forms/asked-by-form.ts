import { withoutSecrets } from '../../../domain/text.ts'
import { seeOther } from '../page-answers.tsx'
import type { Visit } from '../visit.ts'

/**
 * People paste whole API keys into forms that only ask. So a browser without JavaScript sends them by POST, and no address
 * has the secret.
 */
export const askedByForm =
  (...fields: readonly string[]) =>
  (_: unknown, visit: Visit): Response => {
    const typed = fields
      .map((name): [string, string] => [name, withoutSecrets(visit.form(name))])
      .filter(([, text]) => text !== '')
    return seeOther(visit, `${visit.path}?${new URLSearchParams(typed)}`)
  }
