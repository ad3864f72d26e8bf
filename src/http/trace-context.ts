/** W3C Trace Context, level 1. */
export type TraceContext = { readonly traceId?: string; readonly parentId?: string }

/** Of the request's `traceparent` (section 3.2.2). Empty if the header is missing or invalid. A later version may append fields. */
export const traceContextOf = (headers: Headers): TraceContext => {
  const found = pattern.exec(headers.get('traceparent') ?? '')?.groups
  if (found === undefined) return {}
  const { version, traceId = '', parentId = '', more } = found
  const isInvalid = version === 'ff' || (version === '00' && more !== undefined) || isZero(traceId) || isZero(parentId)
  return isInvalid ? {} : { traceId, parentId }
}

const pattern = /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<parentId>[\da-f]{16})-[\da-f]{2}(?<more>-.*)?$/

const isZero = (id: string): boolean => /^0+$/.test(id)
