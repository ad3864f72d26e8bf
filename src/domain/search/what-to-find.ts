import { batchReadingsMax } from '../../limits.ts'
import { isKeyId } from '../key-format.ts'
import { categories, categoryOf } from '../stream-names.ts'
import { isUuid } from '../uuid.ts'
import { parseInstant } from './instant.ts'

export type ToFind =
  /** `readings-7Qp2mZ4k@976`, or `readings-7Qp2mZ4k@976-980` of a batch. */
  | { readonly kind: 'receipt'; readonly stream: string; readonly first: number; readonly last: number }
  /** `2375`, or `2,375` as pages show it. `0421` is rather a part of a label. */
  | { readonly kind: 'position'; readonly position: number }
  /** Of an event or of a request, in lower case. */
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'key'; readonly keyId: string }
  /** In ms since 1970. */
  | { readonly kind: 'instant'; readonly atMs: number }

/** The likeliest first: 1772360047 is a position, or seconds since 1970. Empty: none of these. */
export const meaningsOf = (text: string): readonly ToFind[] => {
  const typed = text.trim()
  const receipt = receiptOf(typed)
  if (receipt !== null) return [receipt]
  if (isUuid(typed.toLowerCase())) return [{ kind: 'id', id: typed.toLowerCase() }]
  const position = /^(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)$/.test(typed) ? Number(typed.replaceAll(',', '')) : Number.NaN
  const keyId = /^(?:clr_)?([0-9A-Za-z]+)(?:_…?)?$/.exec(typed)?.[1] ?? ''
  const instant = parseInstant(typed)
  return [
    ...(Number.isSafeInteger(position) ? [{ kind: 'position', position } as const] : []),
    ...(isKeyId(keyId) ? [{ kind: 'key', keyId } as const] : []),
    ...(instant.ok ? [{ kind: 'instant', atMs: instant.value } as const] : []),
  ]
}

/** `rack:rack-07`, or `rack:"two words"`. `null`: the text is no such thing. */
export const rackTyped = (text: string): string | null => {
  const [, quoted, plain = ''] = /^rack:\s*(?:"([^"]+)"|(\S.*))$/i.exec(text.trim()) ?? []
  return quoted ?? (plain === '' ? null : plain)
}

const receiptOf = (text: string): ToFind | null => {
  const [, stream = '', from, to = from] = /^([^@\s]+)@(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (!categories.includes(categoryOf(stream)) || last < first || last - first >= batchReadingsMax) return null
  return { kind: 'receipt', stream, first, last }
}
