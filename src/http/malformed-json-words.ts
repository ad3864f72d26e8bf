/** The rules for texts to devices are in docs/contract.md, "One reading". */
import type { BodyPlace, JsonFault, JsonPart, MalformedJson } from '../domain/refusal.ts'

export const malformedJsonWords = (refusal: MalformedJson): string => {
  switch (refusal.fault) {
    case 'empty':
      return 'body must not be empty: send one JSON object.'
    case 'no_length':
      return 'Content-Length is missing, so the body was not read: send that header with the number of bytes in the body.'
    case 'not_gzip':
      return 'body must be complete gzip data, as its Content-Encoding says: compress it, or leave out that header.'
    case 'not_utf8':
      return `body must be UTF-8: encode the JSON in UTF-8. ${placeWords(refusal.place)}`
    case 'ends_early':
      return endWords(refusal)
    default:
      return `body must be valid JSON${jsonWords[refusal.fault]} ${placeWords(refusal.place)}`
  }
}

const endWords = ({ place, inside, isLengthDeclared }: Extract<MalformedJson, { readonly fault: 'ends_early' }>) => {
  const part = place.item === null ? partWords[inside] : `${partWords[inside]} in ${itemWords(place.item)}`
  const remedy = isLengthDeclared ? `is Content-Length (${place.byte}) too small?` : 'send the whole JSON.'
  return `body must be valid JSON, but it ends at byte ${place.byte}, in the middle of ${part}: ${remedy}`
}

const placeWords = ({ byte, item }: BodyPlace): string =>
  `It breaks at byte ${byte}${item === null ? '' : `, in ${itemWords(item)}`} (counted from 0).`

/** The notation of most programming languages, whose indexes begin with 0, too. */
const itemWords = (item: number): string => `readings[${item}]`

const partWords: Record<JsonPart, string> = {
  text: 'a text',
  number: 'a number',
  word: 'a word',
  object: 'an object',
  list: 'a list',
}

export const skipReading = 'skip the reading if it has no value'

const jsonWords: Record<JsonFault, string> = {
  not_a_number: `, which has no NaN and no Infinity: ${skipReading}.`,
  decimal_comma: ', which has a dot in a number and no comma: send 21.5, not 21,5.',
  plus_sign: ', which has no plus sign before a number: send 21.5, not +21.5.',
  leading_zero: ', which has no leading zero in a number: send 21.5, not 021.5.',
  dot_first: ', which has a digit before the dot of a number: send 0.5, not .5.',
  dot_last: ', which has a digit after the dot of a number: send 21 or 21.0.',
  number: ', whose numbers look like 21.5 or 2.15e1: send such a number, or put a text in double quotes.',
  no_value: `, which has a value after each colon: ${skipReading}.`,
  extra_comma: ', which has a comma only between two values: remove the other comma.',
  no_quotes: ', which has double quotes (") around each name and text: send these quotes.',
  word: ', whose only words without quotes are true, false and null: put a text in double quotes.',
  no_colon: ', which has a colon after the name of a field: send the colon.',
  no_comma: ', which has a comma or the matching closing bracket after each value: send it.',
  control_character: ', whose texts have no control characters: send \\n for a line break, or remove it.',
  escape: ', which has only the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX: send \\\\ for a backslash.',
  nul_inside: ', which has no NUL byte: send only the bytes of the JSON, not the whole buffer.',
  nul_behind: ', but a NUL byte follows the JSON: do not send the end of the C string.',
  bytes_behind: ', but other bytes follow the JSON: send one JSON object and nothing after it.',
  unexpected: ': send one JSON object.',
}
