/** Loads the sign-in page and submits its form, as a browser does behind a proxy. */
export type SignInForm = {
  submit(fields: { readonly email: string; readonly password: string; readonly address: string }): Promise<{
    readonly status: number
    /** The cookie of the new session. */
    readonly cookie: string
  }>
}

export const openSignIn = async (url: string, address: string, cookie = ''): Promise<SignInForm> => {
  // `/sign-in` shows no form to a signed-in browser. Such a browser takes the CSRF token from a form on `/cellars`.
  const shown = await fetch(`${url}${cookie === '' ? '/sign-in' : '/cellars'}`, { headers: headersOf(address, cookie) })
  const token = csrfTokenIn(await shown.text())
  const kept = cookie === '' ? cookieOf(shown) : cookie
  return {
    submit: async (fields) => {
      const answer = await fetch(`${url}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        headers: headersOf(fields.address, kept),
        body: new URLSearchParams({ _csrf: token, email: fields.email, password: fields.password, next: '' }),
      })
      await answer.arrayBuffer()
      return { status: answer.status, cookie: cookieOf(answer) }
    },
  }
}

const headersOf = (address: string, cookie: string): Record<string, string> => ({
  'X-Forwarded-For': address,
  'X-Forwarded-Proto': 'https',
  ...(cookie !== '' && { Cookie: cookie }),
})

export const cookieOf = (answer: Response): string =>
  answer.headers
    .getSetCookie()
    .filter((cookie) => !cookie.includes('Max-Age=0'))
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

export const csrfTokenIn = (page: string): string => /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
