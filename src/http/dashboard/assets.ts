import type { AssetUrls } from '../../../views/types.ts'
import { acceptsGzip } from './gzip-answers.ts'
import { programFile } from './program-files.ts'
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
  const js = ourScript('app.js')
  const icon = ours('icon.svg', 'image/svg+xml')
  const chart = ourScript('chart.js')
  const htmx = ofPackage('htmx.min.js', 'htmx.org/dist/htmx.min.js')
  const htmxSse = ofPackage('hx-sse.min.js', 'htmx.org/dist/ext/hx-sse.min.js')
  const uplot = ofPackage('uplot.min.js', 'uplot/dist/uPlot.iife.min.js')
  const urls = { css: urlOf(css), js: urlOf(js), icon: urlOf(icon), htmx: urlOf(htmx), htmxSse: urlOf(htmxSse) }
  return {
    urls: { ...urls, uplot: urlOf(uplot), chart: urlOf(chart) },
    all: [css, js, icon, htmx, htmxSse, uplot, chart],
  }
}

const script = 'text/javascript; charset=utf-8'

const ours = (name: string, type: string): Asset => assetOf(name, type, oursFile(name))

/** With short names, and without comments and indentation: a third less to send. */
const ourScript = (name: string): Asset => {
  // The types of Bun lack `minify`.
  const options = { loader: 'js', minify: true } as const
  const transpiler = new Bun.Transpiler(options)
  return assetOf(name, script, Buffer.from(transpiler.transformSync(oursFile(name).toString())))
}

const oursFile = (name: string): Buffer => programFile(`views/assets/${name}`)

const ofPackage = (name: string, path: string): Asset => assetOf(name, script, programFile(`node_modules/${path}`))

const assetOf = (name: string, type: string, file: Uint8Array): Asset => {
  const bytes = new Uint8Array(file)
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
