import { Elysia } from 'elysia'
import { jsonHeaders, problemOf, problemResponse } from '../problem.ts'

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

const unready = problemOf({ kind: 'store_unavailable' })

const yesOrNo = (ok: boolean): Response =>
  ok
    ? new Response('{"ok":true}', { headers: jsonHeaders })
    : new Response('{"ok":false}', { status: unready.status, headers: { ...jsonHeaders, ...unready.headers } })

const onlyLook = (): Response => problemResponse(problemOf({ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] }))
