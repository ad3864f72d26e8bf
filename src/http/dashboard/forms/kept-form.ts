import { withoutSecrets } from '../../../domain/text.ts'
import { hasOwner, isOwnedBy } from '../door/csrf.ts'

/**
 * A form that came after the end of its session. The sign-in page carries its fields, so the service keeps nothing. When the same
 * operator has signed in, the form is shown again and not carried out: its token is still that of the old session.
 */
export type KeptForm = {
  /** With its query. */
  readonly path: string
  readonly fields: readonly (readonly [name: string, text: string])[]
}

/** With the longest sign-in form around it, the text must fit into `visitorFormBodyBytesMax`. */
export const keptBytesMax = 8 * 1024

/** `null` if the form is too long, or no signed-in page made it. */
export const keptText = (path: string, sent: URLSearchParams): string | null => {
  if (!hasOwner(sent.get('_csrf') ?? '')) return null
  // The confirmation finds the keys again.
  const fields = [...sent].filter(([name]) => !name.endsWith('password') && name !== '_confirmed')
  const parts = [path, ...fields.flatMap(([name, text]) => [name, withoutSecrets(text)])]
  const text = Buffer.from(parts.map((part) => part.replaceAll('\0', '')).join('\0')).toString('base64url')
  return text.length > keptBytesMax ? null : text
}

/** `null` if another operator had filled in the form. */
export const keptFormOf = (text: string, email: string): KeptForm | null => {
  const [path = '', ...parts] = Buffer.from(text, 'base64url').toString().split('\0')
  const fields = parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1] ?? ''] as const] : []))
  const token = fields.find(([name]) => name === '_csrf')?.[1] ?? ''
  return isOwnedBy(token, email) ? { path, fields } : null
}
