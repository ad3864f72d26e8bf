import { isUuid } from '../uuid.ts'

/**
 * In ms since 1970, by the clock of the node that made the id. `null`: no request id. Upper-case letters count as
 * lower-case ones, as in any UUID.
 */
export const instantOfRequestId = (text: string): number | null => {
  const id = text.toLowerCase()
  if (!isUuid(id) || !variantOfUuids.has(id.charAt(variantAt)) || id.charAt(versionAt) !== '7') return null
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

const versionAt = 'xxxxxxxx-xxxx-'.length
const variantAt = 'xxxxxxxx-xxxx-vxxx-'.length
const variantOfUuids: ReadonlySet<string> = new Set('89ab')
