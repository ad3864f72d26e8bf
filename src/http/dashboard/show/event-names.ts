import type { Names } from '../../../../views/log/sentence-parts.ts'
import type { Core } from '../../../actors/core-interface.ts'

/** Just before the event at the position. The e-mail of an operator never changes. */
export const namesAt = (
  { projections: { keys, cellars, operators } }: Pick<Core, 'projections'>,
  position: number,
): Names => ({
  keyLabel: (keyId) => keys.labelAt(keyId, position),
  cellarTitle: (cellar) => cellars.titleAt(cellar, position),
  cellarOfStream: (stream) => cellars.ofStream(stream)?.cellar ?? null,
  emailOfStream: (stream) => operators.emailOf(stream),
})
