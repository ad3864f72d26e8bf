import { isUuid } from '../uuid.ts'

export type RequestIdFacts =
  /** When the node made the id, in ms since 1970. The clock of the node can differ from those of other nodes. */
  { readonly kind: 'made_at'; readonly atMs: number } | { readonly kind: 'no_request_id' }

/** Says what a request id tells alone, without the log. Upper-case letters count as lower-case ones, as in any UUID. */
export const requestIdFacts = (text: string): RequestIdFacts => {
  const id = text.toLowerCase()
  if (!isUuid(id) || !variantOfUuids.has(id.charAt(variantAt))) return { kind: 'no_request_id' }
  if (id.charAt(versionAt) !== '7') return { kind: 'no_request_id' }
  return { kind: 'made_at', atMs: Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) }
}

const versionAt = 'xxxxxxxx-xxxx-'.length
const variantAt = 'xxxxxxxx-xxxx-vxxx-'.length
const variantOfUuids: ReadonlySet<string> = new Set('89ab')
