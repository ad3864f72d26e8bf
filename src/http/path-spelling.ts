/**
 * A path with doubled slashes, upper case or percent-encoded letters stores nothing, because a proxy in front that compares
 * paths could miss it. But its answer names the right path.
 */
export const isUnderApi = (url: string): boolean => /^\/api(\/|$)/.test(plainPath(url))

export const meantPath = (url: string, paths: readonly string[]): string | null => {
  const plain = plainPath(url)
  return paths.find((path) => path === plain) ?? null
}

/** The path without a slash at the end. Not read with `URL`, which throws if the `Host` header is not valid. */
const plainPath = (url: string): string => {
  const [, path = ''] = /^\w+:\/\/[^/]*([^?#]*)/.exec(url) ?? []
  const decoded = path.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
  return `/${decoded.toLowerCase()}`.replace(/[/\\]+/g, '/').replace(/\/$/, '')
}
