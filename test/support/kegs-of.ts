import type { KegLatest, Projections } from '../../projections/queries.ts'

/** All kegs of a cellar, as no page asks for them. */
export const kegsOf = ({ readings }: Pick<Projections, 'readings'>, cellar: string): readonly KegLatest[] =>
  readings.kegs(cellar, readings.kegNames(cellar))
