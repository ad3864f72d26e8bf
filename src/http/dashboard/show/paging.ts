/** One page of a long list: rendering all of it, again with every live push, would hold up readings. */
export type Paged<T> = { readonly shown: readonly T[]; readonly page: number; readonly pages: number }

/** A page that has emptied since its link was made is the last one there is. */
export const pageOf = <T>(all: readonly T[], askedPage: number, perPageMax: number): Paged<T> => {
  const pages = pagesOf(all.length, perPageMax)
  const page = Math.min(askedPage, pages)
  return { shown: all.slice((page - 1) * perPageMax, page * perPageMax), page, pages }
}

export const pagesOf = (count: number, perPageMax: number): number => Math.max(1, Math.ceil(count / perPageMax))

/** `?page=`, from 1; anything else is the first. */
export const askedPage = (query: URLSearchParams): number => {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
