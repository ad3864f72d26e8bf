/** Rendering a whole list at every live update would delay readings. */
export type Paged<T> = { readonly shown: readonly T[]; readonly page: number; readonly pages: number }

export const pageOf = <T>(all: readonly T[], pageNumber: number, perPageMax: number): Paged<T> => {
  const pages = pagesOf(all.length, perPageMax)
  const page = Math.min(pageNumber, pages)
  return { shown: all.slice((page - 1) * perPageMax, page * perPageMax), page, pages }
}

export const pagesOf = (count: number, perPageMax: number): number => Math.max(1, Math.ceil(count / perPageMax))
