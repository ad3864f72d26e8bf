/**
 * `awaited`: the client may be waiting for a `100 Continue`, which Bun sends only for exactly `100-continue`, although case
 * does not matter (docs/decisions/026-what-holds-for-every-answer.md).
 */
export const expectation = (headers: Headers): 'met' | 'awaited' | 'unknown' => {
  const expect = headers.get('expect')
  if (expect === null || expect === '100-continue') return 'met'
  const members = expect.split(',').map((member) => member.trim().toLowerCase())
  return members.every((member) => member === '' || member === '100-continue') ? 'awaited' : 'unknown'
}

/**
 * A client that waits for a `100 Continue` sends no body after another answer. On an open connection, Bun would read the
 * next request as this body.
 */
export const closeIfBodyIsAwaited = async (
  request: Request,
  answer: Response | Promise<Response>,
): Promise<Response> => {
  const response = await answer
  if (!request.bodyUsed) response.headers.set('Connection', 'close')
  return response
}
