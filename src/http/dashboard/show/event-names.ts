import type { Names } from '../../../../views/log/sentence-parts.ts'
import type { Core } from '../../../actors/core.ts'

/** Returns the names that keys, cellars and operators have now. */
export const namesNow = ({ projections: { keys, cellars, operators } }: Pick<Core, 'projections'>): Names => ({
  keyLabel: (keyId) => keys.get(keyId)?.label ?? null,
  cellarTitle: (cellar) => cellars.get(cellar)?.title ?? null,
  cellarOfStream: (stream) => cellars.ofStream(stream)?.cellar ?? null,
  emailOfStream: (stream) => operators.emailOf(stream),
})
