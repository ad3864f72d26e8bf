/** A deleted or inserted row changes `count` or `sum`. The sum is modulo 2^53. */
export type RowsTotal = { readonly count: number; readonly sum: number }

export const emptyTotal: RowsTotal = { count: 0, sum: 0 }

const modulus = 2 ** 53

/** No step is greater than 2^53, so every number stays exact. */
export const totalWith = ({ count, sum }: RowsTotal, checksum: number): RowsTotal => {
  const left = modulus - checksum
  return { count: count + 1, sum: sum < left ? sum + checksum : sum - left }
}

export const totalWithout = ({ count, sum }: RowsTotal, checksum: number): RowsTotal => ({
  count: count - 1,
  sum: sum >= checksum ? sum - checksum : sum + (modulus - checksum),
})
