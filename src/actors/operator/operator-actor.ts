import { decideOperator, evolveOperator, type OperatorCommand, type OperatorState } from '../../domain/operator.ts'
import { decideSetup, evolveSetup, noSetup, type SetupCommand, type SetupState } from '../../domain/operator-setup.ts'
import { setupStream } from '../../domain/stream-names.ts'
import type { ActorContext } from '../actor-context.ts'
import { StreamActor } from '../stream/stream-actor.ts'

export type OperatorActor = StreamActor<'operator', OperatorState | null, OperatorCommand>
export type SetupActor = StreamActor<'operator-setup', SetupState, SetupCommand>

/** An invited e-mail has an actor, too, before its account exists. */
export const operatorActor = (stream: string, context: ActorContext): OperatorActor =>
  new StreamActor(context, { stream, kind: 'operator', initial: null, decide: decideOperator, evolve: evolveOperator })

export const setupActor = (context: ActorContext): SetupActor =>
  new StreamActor(context, {
    stream: setupStream,
    kind: 'operator-setup',
    initial: noSetup,
    decide: decideSetup,
    evolve: evolveSetup,
  })
