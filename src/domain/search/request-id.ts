import { isUuid } from '../uuid.ts'

export type RequestIdFacts =
  /** In ms since 1970, by the clock of the node that made the id. */
  { readonly kind: 'made_at'; readonly atMs: number } | { readonly kind: 'no_request_id' }

/** Without the log. Upper-case letters count as lower-case ones, as in any UUID. */
export const requestIdFacts = (text: string): RequestIdFacts => {
  const id = text.toLowerCase()
  if (!isUuid(id) || !variantOfUuids.has(id.charAt(variantAt))) return { kind: 'no_request_id' }
  if (id.charAt(versionAt) !== '7') return { kind: 'no_request_id' }
  return { kind: 'made_at', atMs: Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) }
}

const versionAt = 'xxxxxxxx-xxxx-'.length
const variantAt = 'xxxxxxxx-xxxx-vxxx-'.length
const variantOfUuids: ReadonlySet<string> = new Set('89ab')
