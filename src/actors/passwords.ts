import type { CommandRefusal, Outcome } from '../domain/refusal.ts'
import { done } from '../domain/refusal.ts'
import { passwordBytesMax } from '../limits.ts'
import type { Host } from './host.ts'
import { SerialCommands } from './serial-commands.ts'

/**
 * The hash of a password that nobody knows, made as all others are: comparing with it takes as long as with a real one,
 * so the time of an answer does not tell whether an e-mail has an account.
 */
export const nobodysPasswordHash =
  '$argon2id$v=19$m=65536,t=2,p=1$pnWTdX6Ng/KCOUtLMiEo1Jwfi4bAlbow5dK//K8CTSI$djsxyyKvWI+jz++BSkLjCANN0rmDQmR5RH1dSBvNrsc'

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

/**
 * Hashes and compares passwords off the event loop, one at a time and bounded: each takes 64 MiB, so that a crowd at the
 * sign-in page would otherwise take the memory of the readings.
 */
export class Passwords {
  readonly #queue: SerialCommands

  constructor(host: Host) {
    this.#queue = new SerialCommands(host, () => {})
  }

  hash(password: string): Answer<string> {
    return this.#queue.ask(async () => done(await Bun.password.hash(password, 'argon2id')))
  }

  /** `null` for the hash: nobody's. */
  matches(password: string, hash: string | null): Answer<boolean> {
    return this.#queue.ask(async () => {
      const compared = Buffer.byteLength(password) > passwordBytesMax ? '' : password
      const isSame = compared !== '' && (await Bun.password.verify(compared, hash ?? nobodysPasswordHash))
      return done(isSame && hash !== null)
    })
  }

  get isIdle(): boolean {
    return this.#queue.isIdle
  }

  stop(): void {
    this.#queue.stop()
  }
}
