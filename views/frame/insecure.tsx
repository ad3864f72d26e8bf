import type { Shell } from '../types.ts'
import { Layout } from './layout.tsx'

/** Plain http from elsewhere: why nobody can sign in so, and four ways to mend it, the best for most first. */
export const InsecurePage = (props: { readonly shell: Shell; readonly port: number }): JSX.Element => (
  <Layout shell={props.shell} title="Sign-in needs https" narrow>
    <h1>Sign-in needs https</h1>
    <p class="lead">
      You reached the dashboard from another machine over plain http. There, whoever shares the network could read your
      password and take over your session, so Cellarbook does not ask for it. Devices are not concerned: they may post
      over plain http.
    </p>
    <div class="card">
      <h2>How to mend it</h2>
      <ol class="ways">
        <li>
          <b>Through ssh, at once.</b> On your own machine, then open{' '}
          <code safe>{`http://127.0.0.1:${props.port}`}</code>:
          <pre tabindex="0">
            <code safe>{`ssh -N -L ${props.port}:127.0.0.1:${props.port} you@the-server`}</code>
          </pre>
        </li>
        <li>
          <b>With a certificate.</b> Start the service with <code>TLS_CERT</code> and <code>TLS_KEY</code>.
        </li>
        <li>
          <b>Behind a proxy that speaks https.</b> Set <code>PUBLIC_URL=https://…</code>, and name the proxy in{' '}
          <code>TRUSTED_PROXIES</code>.
        </li>
        <li>
          <b>Not at all,</b> in a network where you trust everyone: <code>ALLOW_INSECURE_HTTP=1</code>. Every page then
          carries a warning.
        </li>
      </ol>
    </div>
  </Layout>
)
