import { Elysia } from 'elysia'
import { refuseTwoHosts } from '../host-header.ts'
import { jsonHeaders, problemOf, problemResponse } from '../problem.ts'

/** These routes need no API key. `/readyz` says whether a load balancer can send readings to this node. */
export const opsRoutes = (isReady: () => boolean) =>
  new Elysia({ name: 'ops' })
    .onBeforeHandle(refuseTwoHosts)
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
