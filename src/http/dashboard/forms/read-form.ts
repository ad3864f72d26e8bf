import { type BodyFault, readBody } from '../../read-body.ts'
import type { BodyHolder, UnfinishedBodies } from '../../unfinished-bodies.ts'

/** The longest sign-in form has 7.5 KB, and can carry another form (`keptBytesMax`). */
export const visitorFormBodyBytesMax = 16 * 1024
export const formBodyBytesMax = 64 * 1024

export type FormFields = (name: string) => string

export type FormFault = BodyFault | 'not_a_form'

export const readForm = async (
  bodies: UnfinishedBodies,
  request: Request,
  holder: BodyHolder,
): Promise<URLSearchParams | FormFault> => {
  const mediaType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') return 'not_a_form'
  const bytesMax = holder.pool === 'visitors' ? visitorFormBodyBytesMax : formBodyBytesMax
  const body = await readBody(bodies, request, { ...holder, bytesMax })
  if (typeof body === 'string') return body
  return new URLSearchParams(new TextDecoder().decode(body))
}

export const fieldsOf =
  (sent: URLSearchParams): FormFields =>
  (name) =>
    sent.get(name) ?? ''

export const noFields: FormFields = () => ''
