import { askModel } from './ask/ask-model.ts'
import type { ModelKind } from './model.ts'
import { readingsKind } from './readings/readings-model.ts'

/** The models that the follower keeps. */
export const modelKinds: readonly ModelKind[] = [askModel, readingsKind]
