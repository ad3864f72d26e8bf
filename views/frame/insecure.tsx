import type { Shell } from '../types.ts'
import { Layout } from './layout.tsx'

/**
 * For plain http from another machine, if `ALLOW_INSECURE_HTTP` is not set. The solution that suits most people is first.
 */
export const InsecurePage = (props: { readonly shell: Shell; readonly port: number }): JSX.Element => (
  <Layout shell={props.shell} title="Sign-in needs https" narrow>
    <h1>Sign-in needs https</h1>
    <p class="lead">
      You opened the dashboard from another machine over plain http. Anyone on the network could read your password and
      take over your session, so you cannot sign in here. Devices can still send readings over plain http.
    </p>
    <div class="card">
      <h2>How to fix it</h2>
      <ol class="ways">
        <li>
          <b>Fastest: an ssh tunnel.</b> Run this on your own machine, then open{' '}
          <code safe>{`http://127.0.0.1:${props.port}`}</code>:
          <pre tabindex="0">
            <code safe>{`ssh -N -L ${props.port}:127.0.0.1:${props.port} you@the-server`}</code>
          </pre>
        </li>
        <li>
          <b>With a certificate.</b> Start the service with <code>TLS_CERT</code> and <code>TLS_KEY</code>.
        </li>
        <li>
          <b>With an https proxy.</b> Set <code>PUBLIC_URL=https://…</code>, and put the address of the proxy into{' '}
          <code>TRUSTED_PROXIES</code>.
        </li>
        <li>
          <b>Without https,</b> only if you trust everyone on the network: set <code>ALLOW_INSECURE_HTTP=1</code>. Every
          page then shows a warning.
        </li>
      </ol>
    </div>
  </Layout>
)
