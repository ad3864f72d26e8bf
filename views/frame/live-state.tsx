import { paths } from '../paths.ts'

/**
 * Says when a page that should be live is not, and since when (a script fills in the time): until then it takes no room. It
 * lies at the lower edge of the window, wherever the page is scrolled to.
 */
export const LiveState = (): JSX.Element => (
  <div id="live-state" role="status">
    <p data-live="lost" hidden>
      <b>
        Not live since <time></time>.
      </b>{' '}
      The service does not answer: what you see may be old. This page goes on asking.
    </p>
    <p data-live="full" hidden>
      <b>
        Not live since <time></time>.
      </b>{' '}
      Too many pages are open on this service. What you see may be old. This page goes on asking.
    </p>
    <p data-live="crowded" hidden>
      <b>
        Not live since <time></time>.
      </b>{' '}
      You opened newer pages, and too many are open to keep them all live. What you see may be old.{' '}
      <button type="button" class="plain" data-live-again>
        Make this page live
      </button>
    </p>
    <p data-live="ended" hidden>
      <b>
        Not live since <time></time>.
      </b>{' '}
      Your session has ended, or your role has changed. <a href={paths.signIn}>Open the page again</a>.
    </p>
  </div>
)
