import { Elysia } from 'elysia'
import { jsonContentType, problemOf, problemResponse } from '../problem.ts'

/**
 * For whoever watches the process, without a key: yes or no and nothing else. `/livez`: it answers. `/readyz`: it takes
 * readings, so that a balancer may send it some.
 */
export const opsRoutes = (isReady: () => boolean) =>
  new Elysia({ name: 'ops' })
    .get('/livez', () => yesOrNo(true))
    .all('/livez', () => onlyLook())
    .get('/readyz', () => yesOrNo(isReady()))
    .all('/readyz', () => onlyLook())

const noStore = { 'Content-Type': jsonContentType, 'Cache-Control': 'no-store' }
const unready = problemOf({ kind: 'store_unavailable' })

const yesOrNo = (ok: boolean): Response =>
  ok
    ? new Response('{"ok":true}', { headers: noStore })
    : new Response('{"ok":false}', { status: unready.status, headers: { ...noStore, ...unready.headers } })

const onlyLook = (): Response =>
  problemResponse(problemOf({ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }), noStore)
