import type { PasswordHasher } from '../../src/actors/operator/passwords.ts'
import { testPassword } from './test-operators.ts'

/**
 * A password hasher that finishes only when a test calls `endOne` or `endAll`. So a test can fill the queue of
 * sign-ins. It accepts `testPassword` for any hash.
 */
export type HeldHasher = PasswordHasher & {
  /** The passwords whose hashing has begun, in order of their start. */
  readonly begun: readonly string[]
  readonly underWay: number
  endOne(): void
  /** Ends all calls that wait. Later calls end immediately. */
  endAll(): void
}

export const heldHasher = (): HeldHasher => {
  const begun: string[] = []
  const held: (() => void)[] = []
  let isHeld = true
  const begin = async (password: string): Promise<void> => {
    begun.push(password)
    if (!isHeld) return
    await new Promise<void>((resolve) => {
      held.push(resolve)
    })
  }
  return {
    begun,
    get underWay() {
      return held.length
    },
    endOne: () => held.shift()?.(),
    endAll: () => {
      isHeld = false
      for (const end of held.splice(0)) end()
    },
    hash: async (password) => {
      await begin(password)
      return `hash of ${password}`
    },
    verify: async (password) => {
      await begin(password)
      return password === testPassword
    },
  }
}
