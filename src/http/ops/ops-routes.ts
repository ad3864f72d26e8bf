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

/** `/openapi.json` has these answers, too. */
export const okAnswer = { status: 200, body: '{"ok":true}', headers: jsonHeaders }
export const unreadyAnswer = { ...unready, body: '{"ok":false}', headers: { ...jsonHeaders, ...unready.headers } }

const yesOrNo = (ok: boolean): Response => {
  const { body, ...head } = ok ? okAnswer : unreadyAnswer
  return new Response(body, head)
}

export const onlyLooked = problemOf({ kind: 'method_not_allowed', allow: ['GET', 'HEAD'] })

export const onlyLook = (): Response => problemResponse(onlyLooked)
