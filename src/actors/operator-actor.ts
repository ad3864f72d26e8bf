import { decideOperator, evolveOperator, type OperatorCommand, type OperatorState } from '../domain/operator.ts'
import { decideSetup, evolveSetup, noSetup, type SetupCommand, type SetupState } from '../domain/operator-setup.ts'
import type { CommandRefusal, Outcome } from '../domain/refusal.ts'
import { setupStream } from '../domain/streams.ts'
import type { Asker } from './core.ts'
import { FoldedStream } from './folded-stream.ts'
import type { Host } from './host.ts'
import { narrowTo } from './narrow.ts'
import { SerialCommands } from './serial-commands.ts'

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

const operatorEvent = narrowTo(
  'OperatorLinkIssued',
  'OperatorAdded',
  'OperatorPasswordSet',
  'OperatorSignedIn',
  'OperatorSignedOut',
)
const setupEvent = narrowTo('OperatorLinkIssued', 'OperatorLinkUsed')

/** One operator on this node, or an e-mail that was invited to become one. */
export class OperatorActor {
  usedBeat = 0
  readonly #host: Host
  readonly #operator: FoldedStream<OperatorState | null>
  readonly #commands: SerialCommands

  constructor(stream: string, host: Host) {
    this.#host = host
    this.#operator = new FoldedStream<OperatorState | null>(host, {
      stream,
      initial: null,
      evolve: (state, event) => evolveOperator(state, operatorEvent(event)),
    })
    this.#commands = new SerialCommands(host, () => this.#operator.forget())
  }

  get isIdle(): boolean {
    return this.#commands.isIdle
  }

  answerOverdue(beat: number): void {
    this.#commands.answerOverdue(beat)
  }

  stop(): void {
    this.#commands.stop()
  }

  perform(command: OperatorCommand, asker: Asker): Answer<OperatorState | null> {
    const { clock } = this.#host
    return this.#commands.ask(() =>
      this.#operator.perform((state) => decideOperator(state, command, clock.now()), asker),
    )
  }
}

/** The set-up links of this log: one stream, so one actor. */
export class SetupActor {
  usedBeat = 0
  readonly #host: Host
  readonly #setup: FoldedStream<SetupState>
  readonly #commands: SerialCommands

  constructor(host: Host) {
    this.#host = host
    this.#setup = new FoldedStream<SetupState>(host, {
      stream: setupStream,
      initial: noSetup,
      evolve: (state, event) => evolveSetup(state, setupEvent(event)),
    })
    this.#commands = new SerialCommands(host, () => this.#setup.forget())
  }

  get isIdle(): boolean {
    return this.#commands.isIdle
  }

  answerOverdue(beat: number): void {
    this.#commands.answerOverdue(beat)
  }

  stop(): void {
    this.#commands.stop()
  }

  perform(command: SetupCommand, asker: Asker): Answer<SetupState> {
    const { clock } = this.#host
    return this.#commands.ask(() => this.#setup.perform((state) => decideSetup(state, command, clock.now()), asker))
  }
}
