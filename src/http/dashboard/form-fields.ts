import { formBodyBytesMax } from '../../limits.ts'
import { readBody } from '../bounded-body.ts'

/** A form as it was sent: the first value of a field that came twice, and `''` for one that did not come. */
export type FormFields = (name: string) => string

export type FormFault = 'too_large' | 'not_a_form' | 'client_gone'

/** Only the form type that a page of ours sends: what else a request can hold, another site's script could have sent. */
export const readForm = async (request: Request): Promise<FormFields | FormFault> => {
  const mediaType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== 'application/x-www-form-urlencoded') return 'not_a_form'
  const body = await readBody(request, formBodyBytesMax)
  if (body === 'too_large' || body === 'client_gone') return body
  const fields = new URLSearchParams(new TextDecoder().decode(body))
  return (name) => fields.get(name) ?? ''
}

export const noFields: FormFields = () => ''
