/**
 * True if a request has two `Host` headers. A proxy may use one of them and the service the other, so such a request is refused
 * (RFC 9112, section 3.2). Bun joins the two with a comma, and no host name has a comma.
 */
export const hasTwoHosts = (headers: Headers): boolean => headers.get('host')?.includes(',') === true
