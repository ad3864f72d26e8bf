import { paths } from '../paths.ts'

/** When live updates stop, `assets/app.js` shows the paragraph that names the cause, and fills in the time. */
export const LiveState = (): JSX.Element => (
  <div id="live-state" role="status">
    <p data-live="lost" hidden>
      <b>
        Live updates stopped at <time></time>.
      </b>{' '}
      The service does not answer, so this page may be out of date. This page keeps trying to reconnect.
    </p>
    <p data-live="full" hidden>
      <b>
        Live updates stopped at <time></time>.
      </b>{' '}
      Too many pages are open on this service, so this page may be out of date. This page keeps trying to reconnect.
    </p>
    <p data-live="ended" hidden>
      <b>
        Live updates stopped at <time></time>.
      </b>{' '}
      Your session has ended, or your role has changed. <a href={paths.signIn}>Open this page again</a>.
    </p>
  </div>
)
