/** Refused, because a proxy may use the other host (RFC 9112, section 3.2). Bun joins the two with a comma, which no host name has. */
export const hasTwoHosts = (headers: Headers): boolean => headers.get('host')?.includes(',') === true

/**
 * Elysia looks for the path from the twelfth character of the URL. A short host without a port (`http://nas/api/…`), or none
 * (HTTP/1.0), would get a 404. A CONNECT names no path, and gets `/`. The `Host` header stays as it is.
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
/** After `http://` or `https://`. */
const pathFromMin = 8
const pathFromElysia = 11
