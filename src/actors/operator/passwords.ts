import { type PasswordContext, type Weakness, weaknessByNames, weakPassword } from '../../domain/names-in-passwords.ts'
import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { done } from '../../domain/refusal.ts'
import { passwordBytesMax } from '../../limits.ts'
import type { ActorContext } from '../actor-context.ts'
import type { PasswordClient } from '../core-interface.ts'
import { CommandRequest } from '../key/mailbox.ts'
import { FairQueue } from './fair-queue.ts'

export const passwordCellarsMax = 1_000
/** Passwords of unknown browsers that wait to be hashed. A hash takes 80 ms, so 64 take about 5 s, the longest wait of a request (`requestWaitMsMax`). */
export const passwordsWaitingMax = 64
export const knownPasswordsWaitingMax = 16
/** Passwords from one IPv4 address or IPv6 /48 that wait. Known and unknown browsers have a limit each. */
export const passwordsWaitingPerNetworkMax = 4

/** For an unknown e-mail, so that the time of the answer does not show whether an account exists. */
export const nobodysPasswordHash =
  '$argon2id$v=19$m=65536,t=2,p=1$pnWTdX6Ng/KCOUtLMiEo1Jwfi4bAlbow5dK//K8CTSI$djsxyyKvWI+jz++BSkLjCANN0rmDQmR5RH1dSBvNrsc'

export type PasswordHasher = {
  hash(password: string): Promise<string>
  verify(password: string, hash: string): Promise<boolean>
}

export const argon2id: PasswordHasher = {
  hash: (password) => Bun.password.hash(password, 'argon2id'),
  verify: (password, hash) => Bun.password.verify(password, hash),
}

export type PasswordJudge = (password: string, context: PasswordContext) => Promise<Weakness | null>

export const judgeByNames: PasswordJudge = async (password, context) => weaknessByNames(password, context)

const unknownClient: PasswordClient = { network: '', isKnown: false }

type Answer<T> = Promise<Outcome<T, CommandRefusal>>
type NewPassword = { readonly email: string; readonly password: string }
type Waiting = {
  readonly command: Pick<CommandRequest, 'perform' | 'refuse' | 'beat'>
  readonly client: PasswordClient
}

/**
 * One password at a time, off the event loop: each hash takes 64 MiB
 * (docs/decisions/022-a-flood-of-sign-ins-keeps-nobody-out.md).
 */
export class Passwords {
  readonly #context: ActorContext
  readonly #hasher: PasswordHasher
  readonly #judge: PasswordJudge
  readonly #known = queueOf(knownPasswordsWaitingMax)
  readonly #strangers = queueOf(passwordsWaitingMax)
  #current: Waiting | null = null
  #isStopped = false

  constructor(context: ActorContext, hasher: PasswordHasher = argon2id, judge: PasswordJudge = judgeByNames) {
    this.#context = context
    this.#hasher = hasher
    this.#judge = judge
  }

  hash({ email, password }: NewPassword, client: PasswordClient = unknownClient): Answer<string> {
    return this.#ask(async () => {
      const weakness = await this.#judge(password, { email, names: this.#namesOfCellars() })
      return weakness === null ? done(await this.#hasher.hash(password)) : weakPassword(weakness)
    }, client)
  }

  /** `hash` is `null` for an unknown e-mail. Then the answer is false, but takes as long as for a known one. */
  matches(password: string, hash: string | null, client: PasswordClient = unknownClient): Answer<boolean> {
    return this.#ask(async () => {
      const compared = Buffer.byteLength(password) > passwordBytesMax ? '' : password
      const isSame = compared !== '' && (await this.#hasher.verify(compared, hash ?? nobodysPasswordHash))
      return done(isSame && hash !== null)
    }, client)
  }

  get waiting(): number {
    return this.#known.size + this.#strangers.size
  }

  get isIdle(): boolean {
    return this.#current === null
  }

  /** Refuses requests of heartbeat `beat` or earlier. A hash that is being computed goes on, but its result is not used. */
  answerOverdue(beat: number): void {
    this.#refuseAll(({ command }) => command.beat <= beat)
  }

  stop(): void {
    this.#isStopped = true
    this.#refuseAll(() => true)
  }

  #ask<T>(work: () => Answer<T>, client: PasswordClient): Answer<T> {
    const command = new CommandRequest(work, this.#context.beat)
    if (this.#isStopped || !this.#isQueued({ command, client })) command.refuse({ kind: 'busy' })
    else if (this.#current === null) void this.#performAll()
    return command.answer
  }

  #isQueued(waiting: Waiting): boolean {
    const { network, isKnown } = waiting.client
    const queue = isKnown ? this.#known : this.#strangers
    if (queue.put(network, waiting)) return true
    // The browser has disconnected from these requests. Without this, a browser that reloads the page could be refused
    // because of them.
    refuse(queue.takeOut(isGone))
    return queue.put(network, waiting)
  }

  async #performAll(): Promise<void> {
    for (this.#current = this.#next(); this.#current !== null; this.#current = this.#next()) {
      if (isGone(this.#current)) {
        refuse([this.#current])
        continue
      }
      try {
        await this.#current.command.perform()
      } catch (bug) {
        this.#context.onBug(bug)
      }
    }
  }

  #namesOfCellars(): readonly string[] {
    const cellars = this.#context.projections.cellars.list().slice(0, passwordCellarsMax)
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
  new FairQueue({ waitingMax, perOwnerMax: passwordsWaitingPerNetworkMax })

const isGone = ({ client }: Waiting): boolean => client.signal?.aborted === true

const refuse = (all: readonly Waiting[]): void => {
  for (const { command } of all) command.refuse({ kind: 'busy' })
}
