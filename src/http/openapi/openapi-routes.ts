import { Elysia } from 'elysia'
import { acceptsGzip } from '../dashboard/gzip-answers.ts'
import { refuseTwoHosts } from '../host-header.ts'
import { onlyLook } from '../ops/ops-routes.ts'
import { openApiDocument } from './openapi-document.ts'

export const openApiPath = '/openapi.json'

/** Needs no API key, as it says nothing about this service but its address. Made at the start, and packed. */
export const openApiRoutes = (publicUrl: string | null) => {
  const bytes = Buffer.from(JSON.stringify(openApiDocument(publicUrl ?? '/')))
  const packed = Bun.gzipSync(bytes, { level: 9 })
  const tag = `"${new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 16)}"`
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    // A cache asks each time whether it still has this version. Weak, because the packed bytes have the same tag.
    'Cache-Control': 'no-cache',
    ETag: `W/${tag}`,
    Vary: 'Accept-Encoding',
  }
  const show = ({ request }: { readonly request: Request }): Response => {
    if (request.headers.get('if-none-match')?.includes(tag) === true)
      return new Response(null, { status: 304, headers })
    if (!acceptsGzip(request)) return new Response(bytes, { headers })
    return new Response(packed, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
  }
  return new Elysia({ name: 'openapi' })
    .onBeforeHandle(refuseTwoHosts)
    .get(openApiPath, show)
    .all(openApiPath, () => onlyLook())
}
