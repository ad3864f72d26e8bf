/** The contract's success body (section 4.1): the time of acceptance in whole seconds. Its text changes once a second. */
export const successBody = (acceptedAtMs: number): string => {
  const second = Math.floor(acceptedAtMs / 1_000)
  if (second === bodySecond) return body
  const timestamp = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`
  bodySecond = second
  body = JSON.stringify({ status: 'success', message: 'Reading stored.', timestamp })
  return body
}

let bodySecond = Number.NaN
let body = ''
