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

/** The values in `_shown` are kept one by one: encoded, they would be three times as long, and could hide a secret. */
const shownPrefix = '_shown '

/** `null` if the form is too long, or no signed-in page made it. */
export const keptText = (path: string, sent: URLSearchParams): string | null => {
  if (!hasOwner(sent.get('_csrf') ?? '')) return null
  // The confirmation finds the keys again.
  const kept = [...sent].filter(([name]) => !name.endsWith('password') && name !== '_confirmed')
  const fields = kept.flatMap(([name, text]) =>
    name === '_shown'
      ? [...new URLSearchParams(text)].map(([field, shown]) => [shownPrefix + field, shown])
      : [[name, text]],
  )
  const parts = [path, ...fields.flatMap(([name = '', text = '']) => [name, withoutSecrets(text)])]
  const text = Buffer.from(parts.map((part) => part.replaceAll('\0', '')).join('\0')).toString('base64url')
  return text.length > keptBytesMax ? null : text
}

/** `null` if another operator had filled in the form. */
export const keptFormOf = (text: string, email: string): KeptForm | null => {
  const [path = '', ...parts] = Buffer.from(text, 'base64url').toString().split('\0')
  const shown = new URLSearchParams()
  const fields: [name: string, text: string][] = []
  for (const [index, name] of parts.entries()) {
    if (index % 2 === 1) continue
    const value = parts[index + 1] ?? ''
    if (name.startsWith(shownPrefix)) shown.append(name.slice(shownPrefix.length), value)
    else fields.push([name, value])
  }
  const token = fields.find(([name]) => name === '_csrf')?.[1] ?? ''
  if (!isOwnedBy(token, email)) return null
  return { path, fields: shown.size === 0 ? fields : [...fields, ['_shown', shown.toString()]] }
}
