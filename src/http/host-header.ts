import { problemOf, problemResponse } from './problem.ts'

/**
 * Bun joins two `Host` headers with a comma. A proxy in front may have checked only one of them (RFC 9112, section 3.2).
 */
export const hasTwoHosts = (headers: Headers): boolean => headers.get('host')?.includes(',') === true

/** Only outside of `/api/`, where `authenticate.ts` refuses such requests, and the refusal is counted. */
export const refuseTwoHosts = ({ request }: { readonly request: Request }): Response | undefined =>
  hasTwoHosts(request.headers) ? problemResponse(problemOf({ kind: 'ambiguous_host' })) : undefined

/**
 * Elysia searches the `/` of the path only from the URL's twelfth character. So a short host (`http://nas/api/…`) or none
 * (HTTP/1.0) would get a 404. A CONNECT request has no path, and gets `/`.
 */
export const withPlainUrl = (request: Request): Request => {
  const { url } = request
  const hasHost = url.charCodeAt(0) !== slash
  if (hasHost && url.indexOf('/', pathFromMin) >= pathFromElysia) return request
  return Object.defineProperty(request, 'url', { value: plainUrl(url, hasHost) })
}

const plainUrl = (url: string, hasHost: boolean): string => {
  if (!hasHost) return `http://localhost${url}`
  return /^https?:\/\//.test(url) ? withPort(url) : 'http://localhost/'
}

const withPort = (url: string): string => {
  const pathFrom = url.indexOf('/', pathFromMin)
  const port = url.startsWith('https:') ? ':443' : ':80'
  return `${url.slice(0, pathFrom)}${port}${url.slice(pathFrom)}`
}

const slash = 47
/** A search from an earlier index would find a slash of `https://`. */
const pathFromMin = 8
const pathFromElysia = 11
