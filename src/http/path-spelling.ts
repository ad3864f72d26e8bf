/**
 * Finds what a device meant by a path with doubled slashes, upper case or percent-encoded letters. Such a path stores nothing,
 * because a proxy in front that compares paths could miss it. But its answer names the right path.
 */
export const isUnderApi = (url: string): boolean => /^\/api(\/|$)/.test(plainPath(url))

/** Returns the one of these paths that `url` spells in another way, or `null`. */
export const meantPath = (url: string, paths: readonly string[]): string | null => {
  const plain = plainPath(url)
  return paths.find((path) => path === plain) ?? null
}

/**
 * Returns the path of a full URL in lower case, decoded, with single slashes and without a slash at the end. Does not use
 * `URL`, which throws if the `Host` header is not valid.
 */
const plainPath = (url: string): string => {
  const [, path = ''] = /^\w+:\/\/[^/]*([^?#]*)/.exec(url) ?? []
  const decoded = path.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
  return `/${decoded.toLowerCase()}`.replace(/[/\\]+/g, '/').replace(/\/$/, '')
}
