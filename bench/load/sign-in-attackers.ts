/**
 * Strangers guess passwords without pause. `X-Forwarded-For` gives each guess an address, as behind a trusted proxy.
 */
import { type Answers, serveLoad, type Times, untilInstant } from './load-process.ts'
import { openSignIn } from './sign-in-form.ts'

export type SignInAttackers = {
  readonly url: string
  readonly connections: number
  /** The guesses come from these addresses in turn. */
  readonly addresses: readonly string[]
}

export type SignInAttackersResult = { readonly attempts: number; readonly answers: Answers }

const prepare = async ({ url, connections, addresses }: SignInAttackers) => {
  const form = await openSignIn(url, '203.0.113.1')
  return async ({ startMs, endMs }: Times): Promise<SignInAttackersResult> => {
    const answers: Record<string, number> = {}
    let sent = 0
    const attack = async (): Promise<void> => {
      while (Date.now() < endMs) {
        const at = sent
        sent += 1
        const address = addresses[at % addresses.length] ?? ''
        const { status } = await form.submit({ email: `stranger-${at}@example.org`, password: `guess ${at}`, address })
        answers[status] = (answers[status] ?? 0) + 1
      }
    }
    await untilInstant(startMs)
    await Promise.all(Array.from({ length: connections }, attack))
    return { attempts: sent, answers }
  }
}

await serveLoad<SignInAttackers, Times, SignInAttackersResult>(prepare)
