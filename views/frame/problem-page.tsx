import { Name } from '../parts/name.tsx'
import type { Shell } from '../types.ts'
import { Layout } from './layout.tsx'

export type PageProblem =
  | 'forbidden'
  | 'form_expired'
  | 'form_too_large'
  | 'form_too_slow'
  | 'too_many_forms'
  | 'no_cookie'
  | 'not_found'
  | 'too_many_attempts'
  | 'busy'
  | 'not_confirmed'
  | 'part_done'
  | 'store_unavailable'
  | 'storage_full'
  | 'internal_error'

/** A page that says no: what happened, whether anything was changed, what to do. */
export const ProblemPage = (props: {
  readonly shell: Shell
  readonly problem: PageProblem
  /** Names this request in the service's log. */
  readonly requestId: string
  /** Where to look or try again. */
  readonly back: { readonly href: string; readonly words: string }
}): JSX.Element => {
  const { title, changed, advice } = words[props.problem]
  return (
    <Layout shell={props.shell} title={title} narrow>
      <h1 safe>{title}</h1>
      <div class={props.problem === 'not_confirmed' || props.problem === 'part_done' ? 'card warn' : 'card'}>
        <p>
          <strong safe>{changed}</strong>
        </p>
        <p safe>{advice}</p>
        <p>
          <a class="button" href={props.back.href}>
            <Name text={props.back.words} />
          </a>
        </p>
      </div>
      <p class="quiet">
        Request <code safe>{props.requestId}</code>
      </p>
    </Layout>
  )
}

const words: Readonly<
  Record<PageProblem, { readonly title: string; readonly changed: string; readonly advice: string }>
> = {
  forbidden: {
    title: 'Not for your role',
    changed: 'Nothing was changed.',
    advice: 'An auditor sees everything and changes nothing. Ask an admin to do it.',
  },
  form_expired: {
    title: 'This form is no longer valid',
    changed: 'Nothing was changed.',
    advice:
      'It belongs to another session, or did not come from this site. Open the page again and send it from there.',
  },
  form_too_large: {
    title: 'This form is too large',
    changed: 'Nothing was changed.',
    advice: 'Something in it is far longer than any of its fields may be. Go back and shorten it.',
  },
  form_too_slow: {
    title: 'This form took too long',
    changed: 'Nothing was changed.',
    advice: 'The connection was too slow, and the form did not arrive. Go back and send it again.',
  },
  too_many_forms: {
    title: 'Too busy to read this form',
    changed: 'Nothing was changed.',
    advice:
      'Too many unfinished forms are on their way, perhaps from the same address as yours. Wait a moment, then go back and try again.',
  },
  no_cookie: {
    title: 'Your browser kept no cookie',
    changed: 'Nothing was changed.',
    advice:
      'Every form here needs one. Allow cookies for this site and open the page again. Over plain http some browsers, Safari among them, refuse them even from this machine: use another one there, or https.',
  },
  not_found: {
    title: 'Nothing here',
    changed: 'There is no such page.',
    advice:
      'The address may be mistyped, or name a cellar or a key that was never created here, or an operator or an invitation that is gone.',
  },
  too_many_attempts: {
    title: 'Too many attempts',
    changed: 'You were not signed in.',
    advice: 'Sign-in is throttled for this account and address. Wait a quarter of an hour, then try again.',
  },
  busy: {
    title: 'Busy',
    changed: 'Nothing was changed.',
    advice: 'Too many requests are waiting for the same key or cellar, or to sign in. Try again in a moment.',
  },
  not_confirmed: {
    title: 'Not confirmed yet',
    changed: 'The log has not said whether the change is stored.',
    advice:
      'It may be in force or not. Look at the page it was about: once the log answers, it shows what is so. If it is not there, do it again; doing it twice does no harm.',
  },
  part_done: {
    title: 'Only part of it is done',
    changed: 'Some of what you changed is in force. The log has not taken the rest, or has not said so.',
    advice:
      'Look at the page it was about, which shows what is so, and make the rest of the change again in a moment; doing it twice does no harm.',
  },
  store_unavailable: {
    title: 'The log can’t be reached',
    changed: 'Nothing was changed.',
    advice:
      'The service can’t write to its log now. Try again in a moment; if it lasts, look at the service’s own log.',
  },
  storage_full: {
    title: 'No space left',
    changed: 'Nothing was changed.',
    advice: 'The disk that holds the log is full. Readings are refused too until there is room again.',
  },
  internal_error: {
    title: 'Something broke',
    changed: 'This request ended in a fault of ours.',
    advice: 'It has been noted in the service’s log under the request below. Look at what is so before you try again.',
  },
}
