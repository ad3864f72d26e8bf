import type { PasswordHasher } from '../../src/actors/operator/passwords.ts'
import { testPassword } from './test-operators.ts'

/** A hasher that accepts `testPassword` for any hash. It answers only when a test says so. */
export type HeldHasher = PasswordHasher & {
  /** In order of their start. */
  readonly begun: readonly string[]
  readonly underWay: number
  endOne(): void
  /** Later ones then end immediately. */
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
