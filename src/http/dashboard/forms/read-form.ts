import { type BodyFault, readBody } from '../../read-body.ts'
import type { BodyHolder, UnfinishedBodies } from '../../unfinished-bodies.ts'

/** The longest sign-in form has 7.5 KB. */
export const visitorFormBodyBytesMax = 8 * 1024
export const formBodyBytesMax = 64 * 1024

export type FormFields = (name: string) => string

export type FormFault = BodyFault | 'not_a_form'

export const readForm = async (
  bodies: UnfinishedBodies,
  request: Request,
  holder: BodyHolder,
): Promise<FormFields | FormFault> => {
  const mediaType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') return 'not_a_form'
  const bytesMax = holder.pool === 'visitors' ? visitorFormBodyBytesMax : formBodyBytesMax
  const body = await readBody(bodies, request, { ...holder, bytesMax })
  if (typeof body === 'string') return body
  const fields = new URLSearchParams(new TextDecoder().decode(body))
  return (name) => fields.get(name) ?? ''
}

export const noFields: FormFields = () => ''
