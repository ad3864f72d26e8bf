import type { RecordedEvent } from '../../domain/events.ts'
import { decideOperator, evolveOperator, type OperatorCommand, type OperatorState } from '../../domain/operator.ts'
import { decideSetup, evolveSetup, noSetup, type SetupCommand, type SetupState } from '../../domain/operator-setup.ts'
import type { CommandRefusal, Outcome } from '../../domain/refusal.ts'
import { setupStream } from '../../domain/stream-names.ts'
import type { ActorContext } from '../actor-context.ts'
import type { Asker } from '../core-interface.ts'
import { narrowTo } from '../stream/narrow-event.ts'
import { StreamActor } from '../stream/stream-actor.ts'

type Answer<T> = Promise<Outcome<T, CommandRefusal>>

/** An invited e-mail also has one, before its account exists. */
export class OperatorActor extends StreamActor<OperatorState | null> {
  constructor(stream: string, context: ActorContext) {
    const evolve = (state: OperatorState | null, event: RecordedEvent) =>
      evolveOperator(state, narrowTo('operator', event))
    super(context, { stream, initial: null, evolve })
  }

  perform(command: OperatorCommand, asker: Asker): Answer<OperatorState | null> {
    const { clock } = this.context
    return this.ask(() => this.record((state) => decideOperator(state, command, clock.now()), asker))
  }
}

export class SetupActor extends StreamActor<SetupState> {
  constructor(context: ActorContext) {
    const evolve = (state: SetupState, event: RecordedEvent) => evolveSetup(state, narrowTo('operator-setup', event))
    super(context, { stream: setupStream, initial: noSetup, evolve })
  }

  perform(command: SetupCommand, asker: Asker): Answer<SetupState> {
    const { clock } = this.context
    return this.ask(() => this.record((state) => decideSetup(state, command, clock.now()), asker))
  }

  /**
   * For changes of a role and removals. Two at once could remove the last two admins. On two nodes this can still happen
   * (docs/decisions/021-sessions-links-and-accounts.md).
   */
  inTurn<T>(work: () => Answer<T>): Answer<T> {
    return this.ask(work)
  }
}
