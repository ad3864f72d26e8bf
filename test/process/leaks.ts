/** `text` must have letters and digits only, because the search splits all texts at other characters. */
export type Secret = { readonly what: string; readonly text: string }

export type Place = { readonly where: string; readonly text: string }

/** A part of a secret counts as a leak if it has at least this number of characters. */
const pieceChars = 16

export const leaksIn = (places: readonly Place[], secrets: readonly Secret[]): readonly string[] => {
  const whose = new Map<string, string>()
  for (const { what, text } of secrets) for (const piece of piecesOf(text)) whose.set(piece, what)
  const leaks = new Set<string>()
  for (const { where, text } of places) {
    for (const piece of piecesOf(text)) {
      const what = whose.get(piece)
      if (what !== undefined) leaks.add(`${where} holds ${what}`)
    }
  }
  return [...leaks]
}

function* piecesOf(text: string): Generator<string> {
  for (const [run] of text.matchAll(longRun)) {
    for (let at = 0; at + pieceChars <= run.length; at += 1) yield run.slice(at, at + pieceChars)
  }
}

const longRun = new RegExp(`[0-9A-Za-z]{${pieceChars},}`, 'g')
