import type { KegLatest, KegName, Projections } from '../../projections/queries.ts'

/** Names of the kegs that are found, all without words; in one go, as no page asks for them. */
export const kegNamesOf = (
  { readings }: Pick<Projections, 'readings'>,
  cellar: string,
  words: readonly string[] = [],
): readonly KegName[] => {
  const search = readings.findKegs(cellar, words)
  for (;;) {
    const piece = search.next()
    if (piece.done === true) return piece.value.found
  }
}

/** All kegs of a cellar. */
export const kegsOf = (projections: Pick<Projections, 'readings'>, cellar: string): readonly KegLatest[] =>
  projections.readings.kegs(cellar, kegNamesOf(projections, cellar))
