import { askModel } from './ask/ask-model.ts'
import { beginningModel } from './beginning/beginning-model.ts'
import type { ModelKind } from './model.ts'
import { readingsKind } from './readings/readings-model.ts'
import { repeatsModel } from './repeats/repeats-model.ts'

/** Requests are refused while the first one is behind, so it comes first. */
export const modelKinds: readonly ModelKind[] = [repeatsModel, askModel, readingsKind]

/** Only the embedded log has an index of what a start needs. */
export const modelKindsFor = ({ isShared }: { readonly isShared: boolean }): readonly ModelKind[] =>
  isShared ? [...modelKinds, beginningModel] : modelKinds
