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
  | 'keg_not_found'
  | 'rack_not_found'
  | 'busy'
  | 'export_running'
  | 'too_many_exports'
  | 'exported_too_often'
  | 'too_many_pages'
  | 'still_searching'
  | 'not_confirmed'
  | 'part_done'
  | 'store_unavailable'
  | 'storage_full'
  | 'internal_error'

export const ProblemPage = (props: {
  readonly shell: Shell
  readonly problem: PageProblem
  /** Log lines contain this id too. */
  readonly requestId: string
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
        Request id <code safe>{props.requestId}</code>
      </p>
    </Layout>
  )
}

const words: Readonly<
  Record<PageProblem, { readonly title: string; readonly changed: string; readonly advice: string }>
> = {
  forbidden: {
    title: 'Only an admin can do this',
    changed: 'Nothing was changed.',
    advice: 'You are an auditor: you can see everything, but change nothing. Ask an admin to do it.',
  },
  form_expired: {
    title: 'This form is no longer valid',
    changed: 'Nothing was changed.',
    advice:
      'The form belongs to another session, or did not come from this site. Open the page of the form again, and fill in the form there.',
  },
  form_too_large: {
    title: 'This form is too large',
    changed: 'Nothing was changed.',
    advice: 'A field is much longer than allowed. Go back and shorten the text.',
  },
  form_too_slow: {
    title: 'This form took too long',
    changed: 'Nothing was changed.',
    advice: 'Your connection was too slow, so the form did not arrive completely. Go back and send it again.',
  },
  too_many_forms: {
    title: 'Too many forms at once',
    changed: 'Nothing was changed.',
    advice:
      'The service is still receiving too many other forms, perhaps from your own network address. Wait a moment, then go back and try again.',
  },
  no_cookie: {
    title: 'Your browser blocks cookies',
    changed: 'Nothing was changed.',
    advice:
      'Every form here needs a cookie. Allow cookies for this site, then open the page again. Over plain http on localhost, some browsers such as Safari block this cookie: use another browser or https.',
  },
  not_found: {
    title: 'Page not found',
    changed: 'There is no page at this address.',
    advice:
      'Check the address for typing errors. The address may also name a cellar or key that was never created, or an operator or invitation that was removed.',
  },
  keg_not_found: {
    title: 'No such keg',
    changed: 'No reading of this keg is known.',
    advice:
      'Check the address for typing errors. A keg appears with its first reading, and is dropped when the cellar has too many kegs and this one is silent for longest.',
  },
  rack_not_found: {
    title: 'No such rack',
    changed: 'No reading of this rack is known.',
    advice: 'Check the address for typing errors. A rack appears with the first reading of one of its kegs.',
  },
  busy: {
    title: 'The service is busy',
    changed: 'Nothing was changed.',
    advice: 'Too many requests for the same key or cellar, or to sign in, are waiting. Try again in a moment.',
  },
  export_running: {
    title: 'Your other export is still running',
    changed: 'Nothing was exported.',
    advice: 'You can run one export at a time. Wait until the other download ends, or cancel it in your browser.',
  },
  too_many_exports: {
    title: 'Too many exports at once',
    changed: 'Nothing was exported.',
    advice: 'Other people are exporting now, or the service is stopping. Try again in some minutes.',
  },
  exported_too_often: {
    title: 'Too many exports in the last hour',
    changed: 'Nothing was exported.',
    advice:
      'Each export leaves two records in the log for ever, so nobody can begin very many in an hour. Try again later. One export with a wider filter can replace many.',
  },
  too_many_pages: {
    title: 'Too many pages at once',
    changed: 'This page was not opened.',
    advice: 'Too many pages are still loading, perhaps in your other tabs. Wait a moment, then try again.',
  },
  not_confirmed: {
    title: 'Not confirmed yet',
    changed: 'The event log has not confirmed your change.',
    advice:
      'Your change may or may not be in force. Open the page that you changed: once the event log answers, the page shows the current state. If your change is missing, make it again. Repeating a change does no harm.',
  },
  part_done: {
    title: 'Only part of your change is saved',
    changed: 'Some fields are saved and in force. The others are not saved, or not confirmed.',
    advice:
      'Open the page that you changed: it shows what is saved. Wait a moment, then make the missing changes again. Repeating a change does no harm.',
  },
  still_searching: {
    title: 'The search needs more time',
    changed: 'Nothing was changed.',
    advice:
      'The event log shares its store with other programs, and the search is still passing their events. Load this page again: the search goes on meanwhile.',
  },
  store_unavailable: {
    title: 'The event log is unavailable',
    changed: 'Nothing was changed.',
    advice:
      'The service cannot write to its event log. Try again in a moment. If this page appears again, read the log lines of the service.',
  },
  storage_full: {
    title: 'The disk is full',
    changed: 'Nothing was changed.',
    advice: 'Make room on the disk of the event log, then try again. Until then, readings are refused too.',
  },
  internal_error: {
    title: 'Something went wrong',
    changed: 'Your request failed because of an error in Cellarbook.',
    advice:
      'Check whether your change was saved before you try again. The log lines of the service name the error, with the request id below.',
  },
}
