import type { EmptyService } from '../servers.ts'
import { cookieOf, csrfTokenIn } from './sign-in-form.ts'

/** A link by which an operator sets the first password. */
export type OperatorLink = { readonly url: string; readonly email: string }

const password = 'twelve chars and more'

/** Each call makes operators with other e-mails. */
export const newOperators = async (
  service: EmptyService,
  count: number,
  role: 'admin' | 'auditor' = 'admin',
): Promise<readonly OperatorLink[]> => {
  const links: OperatorLink[] = []
  const at = Date.now()
  while (links.length < count) {
    const email = `bench-${at}-${links.length}@example.org`
    const [line] = await service.ask({ op: 'issue_link', email, role })
    if (line?.kind !== 'link') throw new Error('Cannot prepare the service: it made no link')
    links.push({ url: line.value.url, email })
  }
  return links
}

/** Sets the password, and returns the cookie of the first session. */
export const useLink = ({ url, email }: OperatorLink): Promise<string> => submit(url, { email, password })

/** Returns the cookie of a further session. */
export const signInAgain = (url: string, { email }: OperatorLink): Promise<string> =>
  submit(`${url}/sign-in`, { email, password, next: '' })

const submit = async (url: string, fields: Readonly<Record<string, string>>): Promise<string> => {
  const page = await fetch(url)
  const answer = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: cookieOf(page) },
    body: new URLSearchParams({ ...fields, _csrf: csrfTokenIn(await page.text()) }),
  })
  if (answer.status !== 303) throw new Error(`Cannot sign in: ${url} answered ${answer.status}`)
  return cookieOf(answer)
}
