import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { done } from '../../domain/refusal.ts'
import { type PasswordContext, type Weakness, weaknessByNames, weakPassword } from '../../domain/weak-password.ts'
import {
  knownPasswordsWaitingMax,
  passwordBytesMax,
  passwordCellarsMax,
  passwordsWaitingMax,
  passwordsWaitingPerNetworkMax,
} from '../../limits.ts'
import type { PasswordClient } from '../core.ts'
import type { Host } from '../host.ts'
import { CommandAsk } from '../key/mailbox.ts'
import { FairQueue } from './fair-queue.ts'

/**
 * The hash of a password that nobody knows, made as all others are: comparing with it takes as long as with a real one,
 * so the time of an answer does not tell whether an e-mail has an account.
 */
export const nobodysPasswordHash =
  '$argon2id$v=19$m=65536,t=2,p=1$pnWTdX6Ng/KCOUtLMiEo1Jwfi4bAlbow5dK//K8CTSI$djsxyyKvWI+jz++BSkLjCANN0rmDQmR5RH1dSBvNrsc'

/** As a parameter, so that a test can say how long a hash takes. */
export type PasswordHasher = {
  hash(password: string): Promise<string>
  verify(password: string, hash: string): Promise<boolean>
}

export const argon2id: PasswordHasher = {
  hash: (password) => Bun.password.hash(password, 'argon2id'),
  verify: (password, hash) => Bun.password.verify(password, hash),
}

/** Says why a password is easy to guess; `null`: it is not. As a parameter, since a good judge needs a dictionary. */
export type PasswordJudge = (password: string, context: PasswordContext) => Promise<Weakness | null>

/** The judge who knows the names alone. */
export const judgeByNames: PasswordJudge = async (password, context) => weaknessByNames(password, context)

/** A caller who asks without saying for whom: waits behind everybody who is known. */
const unknownClient: PasswordClient = { network: '', isKnown: false }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>
type NewPassword = { readonly email: string; readonly password: string }
type Waiting = { readonly command: Pick<CommandAsk, 'perform' | 'refuse' | 'beat'>; readonly client: PasswordClient }

/**
 * Judges, hashes and compares passwords off the event loop, one at a time: each takes up to 64 MiB, so a crowd at the
 * sign-in page would otherwise take the memory of the readings.
 *
 * A flood must not keep an operator out. So known clients come before strangers and have room of their own, and within each
 * of the two the networks take turns.
 */
export class Passwords {
  readonly #host: Host
  readonly #hasher: PasswordHasher
  readonly #judge: PasswordJudge
  readonly #known = queueOf(knownPasswordsWaitingMax)
  readonly #strangers = queueOf(passwordsWaitingMax)
  #current: Waiting | null = null
  #isStopped = false

  constructor(host: Host, hasher: PasswordHasher = argon2id, judge: PasswordJudge = judgeByNames) {
    this.#host = host
    this.#hasher = hasher
    this.#judge = judge
  }

  /** The hash of a new password. Refuses one that is easy to guess. */
  hash({ email, password }: NewPassword, client: PasswordClient = unknownClient): Answer<string> {
    return this.#ask(async () => {
      const weakness = await this.#judge(password, { email, names: this.#namesOfCellars() })
      return weakness === null ? done(await this.#hasher.hash(password)) : weakPassword(weakness)
    }, client)
  }

  /** `null` for the hash: nobody's. */
  matches(password: string, hash: string | null, client: PasswordClient = unknownClient): Answer<boolean> {
    return this.#ask(async () => {
      const compared = Buffer.byteLength(password) > passwordBytesMax ? '' : password
      const isSame = compared !== '' && (await this.#hasher.verify(compared, hash ?? nobodysPasswordHash))
      return done(isSame && hash !== null)
    }, client)
  }

  get isIdle(): boolean {
    return this.#current === null
  }

  /** Answers whoever came in that heartbeat or before. A hash that has begun goes on, and nobody waits for it. */
  answerOverdue(beat: number): void {
    this.#refuseAll(({ command }) => command.beat <= beat)
  }

  /** Answers everybody, and whoever comes after. */
  stop(): void {
    this.#isStopped = true
    this.#refuseAll(() => true)
  }

  #ask<T>(work: () => Answer<T>, client: PasswordClient): Answer<T> {
    const command = new CommandAsk(work, this.#host.beat)
    if (this.#isStopped || !this.#isQueued({ command, client })) command.refuse({ kind: 'busy' })
    else if (this.#current === null) void this.#workOff()
    return command.answer
  }

  #isQueued(waiting: Waiting): boolean {
    const { network, isKnown } = waiting.client
    const queue = isKnown ? this.#known : this.#strangers
    if (queue.put(network, waiting)) return true
    // Somebody who reloads the page a few times must not be refused for the requests that they gave up.
    refuse(queue.takeOut(hasGone))
    return queue.put(network, waiting)
  }

  async #workOff(): Promise<void> {
    for (this.#current = this.#next(); this.#current !== null; this.#current = this.#next()) {
      if (hasGone(this.#current)) {
        refuse([this.#current])
        continue
      }
      try {
        await this.#current.command.perform()
      } catch (bug) {
        this.#host.onBug(bug)
      }
    }
  }

  #namesOfCellars(): readonly string[] {
    const cellars = this.#host.projections.cellars.list().slice(0, passwordCellarsMax)
    return cellars.flatMap(({ cellar, title }) => [cellar, title])
  }

  #next(): Waiting | null {
    return this.#known.next() ?? this.#strangers.next()
  }

  #refuseAll(isOut: (waiting: Waiting) => boolean): void {
    if (this.#current !== null && isOut(this.#current)) refuse([this.#current])
    refuse(this.#known.takeOut(isOut))
    refuse(this.#strangers.takeOut(isOut))
  }
}

const queueOf = (waitingMax: number): FairQueue<Waiting> =>
  new FairQueue({ waitingMax, perNetworkMax: passwordsWaitingPerNetworkMax })

const hasGone = ({ client }: Waiting): boolean => client.signal?.aborted === true

/** Nothing was written for any of them, so they may ask again. */
const refuse = (all: readonly Waiting[]): void => {
  for (const { command } of all) command.refuse({ kind: 'busy' })
}
