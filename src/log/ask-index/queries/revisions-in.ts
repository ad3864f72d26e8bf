import type { AskStatements } from './ask-statements.ts'
import type { Range } from './place-walk.ts'

/** The index on streams is in the order of revisions, so a binary search finds them. */
export const revisionsIn = (statements: AskStatements, stream: number, { after, before }: Range): Range => {
  const last = statements.lastRevision.get(stream)?.revision ?? -1
  const firstFrom = (position: number): number => {
    let low = 0
    let high = last + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found = statements.fromRevision.get(stream, middle)
      if (found === null || found.position >= position) high = middle
      else low = found.revision + 1
    }
    return low
  }
  return { after: firstFrom(after + 1) - 1, before: firstFrom(before) }
}
