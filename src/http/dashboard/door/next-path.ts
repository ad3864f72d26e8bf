import { paths } from '../../../../views/paths.ts'

/**
 * Where to go after sign-in, from what a link or a form says: a path of ours or, if it is anything else, the cellars. A
 * browser takes `//host`, `/\host` and `/<tab>/host` for another site; the URL parser does too, so the parser judges. What
 * it makes of `/..//host` is `//host` again, so that is judged once more.
 */
export const safeNext = (text: string): string => {
  if (!text.startsWith('/')) return paths.cellars
  const url = URL.parse(text, nowhere)
  return url?.origin === nowhere && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : paths.cellars
}

const nowhere = 'https://nowhere.invalid'
