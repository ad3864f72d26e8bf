/** Rendering a whole list at every push would delay readings. */
export type Paged<T> = { readonly shown: readonly T[]; readonly page: number; readonly pages: number }

/** After the last page, shows the last page. */
export const pageOf = <T>(all: readonly T[], pageNumber: number, perPageMax: number): Paged<T> => {
  const pages = pagesOf(all.length, perPageMax)
  const page = Math.min(pageNumber, pages)
  return { shown: all.slice((page - 1) * perPageMax, page * perPageMax), page, pages }
}

export const pagesOf = (count: number, perPageMax: number): number => Math.max(1, Math.ceil(count / perPageMax))

/** `?page=`, from 1. The default is the first page. */
export const requestedPage = (query: URLSearchParams): number => {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
