/** What must not be read, and what it is, to say so without repeating it. All secrets here are letters and digits. */
export type Secret = { readonly what: string; readonly text: string }

export type Place = { readonly where: string; readonly text: string }

/** So many characters of a secret in a row are a leak: a text that was cut short, or begins later, is found too. */
const pieceChars = 16

/** Which of the secrets are in which of the places, wholly or in part. */
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
