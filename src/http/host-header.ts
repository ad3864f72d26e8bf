/**
 * True if a request has two `Host` headers. A proxy may obey one of them and the service the other, so neither is believed
 * (RFC 9112, section 3.2). Bun joins them with a comma, which no name of a host has.
 */
export const hasTwoHosts = (headers: Headers): boolean => headers.get('host')?.includes(',') === true
