import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AssetUrls } from '../../../views/types.ts'
import { acceptsGzip } from './gzip-answers.ts'
import type { Visit } from './visit.ts'

type Asset = {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Packed at the start. Brotli would save another 12 %, and delay each start by 190 ms. */
  readonly packed: Uint8Array<ArrayBuffer>
  readonly hash: string
}

export type Assets = { readonly urls: AssetUrls; readonly all: readonly Asset[] }

/** An address contains the hash of the content, so browsers can keep an asset forever. */
export const loadAssets = (): Assets => {
  const css = ours('app.css', 'text/css; charset=utf-8')
  const js = ours('app.js', script)
  const icon = ours('icon.svg', 'image/svg+xml')
  const htmx = htmxs('htmx.min.js', 'htmx.org/dist/htmx.min.js')
  const htmxSse = htmxs('hx-sse.min.js', 'htmx.org/dist/ext/hx-sse.min.js')
  const all = [css, js, icon, htmx, htmxSse]
  return {
    urls: { css: urlOf(css), js: urlOf(js), icon: urlOf(icon), htmx: urlOf(htmx), htmxSse: urlOf(htmxSse) },
    all,
  }
}

const script = 'text/javascript; charset=utf-8'

const ours = (name: string, type: string): Asset =>
  assetOf(name, type, fileURLToPath(new URL(`../../../views/assets/${name}`, import.meta.url)))

const htmxs = (name: string, specifier: string): Asset =>
  assetOf(name, script, fileURLToPath(import.meta.resolve(specifier)))

const assetOf = (name: string, type: string, path: string): Asset => {
  const bytes = new Uint8Array(readFileSync(path))
  const hash = new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 16)
  return { name, type, bytes, packed: Bun.gzipSync(bytes, { level: 9 }), hash }
}

const urlOf = ({ name, hash }: Asset): string => `/assets/${name}?v=${hash}`

/**
 * With another `?v=` than this file's hash, the page came from another version of this service. Then caches must ask again,
 * because the address belongs to another content.
 */
export const showAsset =
  ({ type, bytes, packed, hash }: Asset) =>
  (_: unknown, { request, query }: Visit): Response => {
    const isThis = query.get('v') === hash
    const cache = isThis ? 'public, max-age=31536000, immutable' : 'no-cache'
    const headers = { 'Content-Type': type, 'Cache-Control': cache, Vary: 'Accept-Encoding' }
    if (!acceptsGzip(request)) return new Response(bytes, { headers })
    return new Response(packed, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
  }
