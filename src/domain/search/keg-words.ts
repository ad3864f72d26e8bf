/** Each of the `words`, in lower case, occurs in the name of the rack or of the keg. */
export const hasWords = (
  { rack, keg }: { readonly rack: string; readonly keg: string },
  words: readonly string[],
): boolean => {
  const [rackText, kegText] = [rack.toLowerCase(), keg.toLowerCase()]
  return words.every((word) => rackText.includes(word) || kegText.includes(word))
}
