import type { KegLatest, KegName, Projections } from '../../projections/queries.ts'

/** Runs the whole search at once. The dashboard instead pauses between its steps, so that other work can run. */
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

export const kegsOf = (projections: Pick<Projections, 'readings'>, cellar: string): readonly KegLatest[] =>
  projections.readings.kegs(cellar, kegNamesOf(projections, cellar))
