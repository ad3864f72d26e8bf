import { paths } from '../paths.ts'

/** Hidden until live updates stop. Then `assets/app.js` shows the paragraph of the cause, and fills in when they stopped. */
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
    <p data-live="crowded" hidden>
      <b>
        Live updates stopped at <time></time>.
      </b>{' '}
      You opened more pages than can be updated together, so this page may be out of date. If you resume here, another
      page stops.{' '}
      <button type="button" class="plain" data-live-again>
        Resume live updates here
      </button>
    </p>
    <p data-live="ended" hidden>
      <b>
        Live updates stopped at <time></time>.
      </b>{' '}
      Your session has ended, or your role has changed. <a href={paths.signIn}>Open this page again</a>.
    </p>
  </div>
)
