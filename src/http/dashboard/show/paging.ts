/** `?page=`, which counts from 1. */
export const requestedPage = (query: URLSearchParams): number => {
  const page = query.get('page') ?? ''
  return /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
}
