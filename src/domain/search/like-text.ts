/**
 * Matches the words in any case of their letters, whatever stands between them: `mosel-press 21` finds "Mosel press, 21".
 * `null` for fewer than `likeCharsMin` letters and digits, because most names contain such a text.
 */
export const likeText = (text: string, { isWhole }: { readonly isWhole: boolean }): RegExp | null => {
  const words = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  if (words.join('').length < (isWhole ? 1 : likeCharsMin)) return null
  const pattern = words.join('[^\\p{L}\\p{M}\\p{N}]*')
  return new RegExp(isWhole ? `^[^\\p{L}\\p{N}]*${pattern}[^\\p{L}\\p{N}]*$` : pattern, 'iu')
}

const likeCharsMin = 3
