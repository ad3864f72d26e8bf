/**
 * `met`: there is no `Expect` header, or Bun has sent the `100 Continue`. `awaited`: the client may be waiting for a
 * `100 Continue`, which Bun sends only for exactly `100-continue`, although case does not matter (RFC 9110, section 10.1.1).
 */
export const expectation = (headers: Headers): 'met' | 'awaited' | 'unknown' => {
  const expect = headers.get('expect')
  if (expect === null || expect === '100-continue') return 'met'
  const members = expect.split(',').map((member) => member.trim().toLowerCase())
  return members.every((member) => member === '' || member === '100-continue') ? 'awaited' : 'unknown'
}

/**
 * Closes the connection after an answer that comes before the body, if the client may be waiting for a `100 Continue`. Such a
 * client sends no body after another answer. On an open connection, Bun would read the next request as this body.
 */
export const closeIfBodyIsAwaited = async (
  request: Request,
  answer: Response | Promise<Response>,
): Promise<Response> => {
  const response = await answer
  if (!request.bodyUsed) response.headers.set('Connection', 'close')
  return response
}
