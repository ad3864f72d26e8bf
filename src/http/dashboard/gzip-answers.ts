/** docs/security.md “Compression” says why packing a page shows no secret to somebody who sees the sizes of answers. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Visit } from './visit.ts'

const gzipOnThread = promisify(gzip)

const gzipAccepted = /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i

export const acceptsGzip = ({ headers }: Request): boolean =>
  (headers.get('accept-encoding') ?? '').split(',').some((coding) => gzipAccepted.test(coding))

/** False for a request that another site caused, and for the answer to a form, which can show a new secret. */
export const mayPack = ({ request, origin }: Pick<Visit, 'request' | 'origin'>): boolean => {
  // The answer to HEAD says the length that GET sends.
  if ((request.method !== 'GET' && request.method !== 'HEAD') || !acceptsGzip(request)) return false
  const site = request.headers.get('sec-fetch-site')
  // Browsers say nothing about the site over such plain http, where everybody can read the page anyway.
  return site === null ? origin.trust === 'insecure_allowed' : site === 'same-origin' || site === 'none'
}

export const gzipPage = async (visit: Visit, answer: Response): Promise<Response> => {
  if (!mayPack(visit)) return answer
  const { status, headers } = answer
  headers.set('Content-Encoding', 'gzip')
  return new Response(await gzipOnThread(await answer.arrayBuffer()), { status, headers })
}
