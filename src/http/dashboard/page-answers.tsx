import { type PageProblem, ProblemPage } from '../../../views/frame/problem-page.tsx'
import { paths } from '../../../views/paths.ts'
import type { CommandRefusal } from '../../domain/refusal.ts'
import { commandProblemOf } from '../command-problem.ts'
import { cookieText } from './door/cookies.ts'
import { noStore } from './door/security-headers.ts'
import { gzipPage } from './gzip-answers.ts'
import { type NoticeName, noticeMs } from './notice.ts'
import type { Visit } from './visit.ts'

/** Deletes the cookie of a notice that the page shows, so that it is shown only once. */
export const htmlPage = async (visit: Visit, page: JSX.Element, status = 200): Promise<Response> => {
  const answer = await gzipPage(visit, await visit.show(page, status))
  answer.headers.set('Cache-Control', noStore)
  for (const cookie of visit.cookies) answer.headers.append('Set-Cookie', cookie)
  if (visit.shell.notice !== null) answer.headers.append('Set-Cookie', noticeCookie(visit, null))
  return answer
}

type Redirect = { readonly notice?: NoticeName; readonly cookies?: readonly string[] }

/** So a reload does not send the form again. */
export const seeOther = (visit: Visit, path: string, { notice, cookies = [] }: Redirect = {}): Response => {
  const headers = new Headers({ Location: path })
  for (const cookie of cookies) headers.append('Set-Cookie', cookie)
  if (notice !== undefined) headers.append('Set-Cookie', noticeCookie(visit, notice))
  return new Response(null, { status: 303, headers })
}

const noticeCookie = ({ origin }: Visit, notice: NoticeName | null): string =>
  cookieText({ kind: 'notice', value: notice ?? '', ageMs: notice === null ? 0 : noticeMs }, origin.trust)

export type Back = { readonly href: string; readonly words: string }

export const toCellars: Back = { href: paths.cellars, words: 'Go to the cellars' }

export const problemPage = (
  visit: Visit,
  {
    problem,
    status,
    back = toCellars,
  }: { readonly problem: PageProblem; readonly status: number; readonly back?: Back },
): Promise<Response> =>
  htmlPage(visit, <ProblemPage shell={visit.shell} problem={problem} requestId={visit.requestId} back={back} />, status)

export const notFound = (visit: Visit): Promise<Response> => problemPage(visit, { problem: 'not_found', status: 404 })

/** `null` if the form can be shown again with the refusal. */
export const wholePageProblem = (refusal: CommandRefusal): PageProblem | null => {
  switch (refusal.kind) {
    case 'busy':
    case 'not_confirmed':
    case 'store_unavailable':
    case 'storage_full':
      return refusal.kind
    case 'cellar_not_found':
    case 'key_not_found':
    case 'operator_not_found':
      return 'not_found'
    default:
      return null
  }
}

type Refused = {
  readonly back: Back
  again(faults: Faults): JSX.Element
  /** An earlier command of the form has succeeded, so the page must not say that nothing was changed. */
  readonly isPartDone?: boolean
}

export const refusedPage = (
  visit: Visit,
  refusal: CommandRefusal,
  { back, again, isPartDone = false }: Refused,
): Promise<Response> => {
  if (refusal.kind === 'session_has_ended') {
    return Promise.resolve(seeOther(visit, paths.signIn, { notice: 'session_ended' }))
  }
  const { status, field, text } = commandProblemOf(refusal)
  const problem = isPartDone && status === 503 ? 'part_done' : wholePageProblem(refusal)
  if (problem !== null) return problemPage(visit, { problem, status, back })
  return htmlPage(visit, again({ [field ?? 'form']: text }), status)
}

export type Faults = Readonly<Record<string, string>>

export const noFaults: Faults = {}

/** A fault without a field moves to the top. Otherwise nobody would see it. */
export const placedFaults = (values: Readonly<Record<string, string>>, faults: Faults): Faults => {
  const unplaced = Object.entries(faults).find(([field]) => field !== 'form' && !Object.hasOwn(values, field))
  return unplaced === undefined ? faults : { ...faults, form: unplaced[1] }
}
