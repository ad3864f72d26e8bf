import type { Children } from '@kitajs/html'
import { Layout } from '../frame/layout.tsx'
import { Name } from '../parts/name.tsx'
import { paths } from '../paths.ts'
import type { CellarView, Shell } from '../types.ts'

export const CellarFrame = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly tab: 'readings' | 'keys' | 'settings'
  readonly title: string
  readonly children: Children
}): JSX.Element => {
  const { cellar } = props
  return (
    <Layout shell={props.shell} title={`${props.title} · ${cellar.title}`} section="cellars">
      <Breadcrumbs cellar={null} />
      <div class="heading">
        <h1>
          <Name text={cellar.title} />
        </h1>
        <p class="identifier">
          <span class="quiet">Identifier</span>{' '}
          <code>
            <Name text={cellar.cellar} />
          </code>
        </p>
      </div>
      <nav class="tabs" aria-label="Pages of this cellar">
        <ul>
          <li>
            <a href={paths.cellar(cellar.cellar)} aria-current={props.tab === 'readings' ? 'page' : undefined}>
              Readings
            </a>
          </li>
          <li>
            <a href={paths.keys(cellar.cellar)} aria-current={props.tab === 'keys' ? 'page' : undefined}>
              API Keys
            </a>
          </li>
          <li>
            <a href={paths.settings(cellar.cellar)} aria-current={props.tab === 'settings' ? 'page' : undefined}>
              Settings
            </a>
          </li>
        </ul>
      </nav>
      {props.children}
    </Layout>
  )
}

export const Breadcrumbs = (props: {
  readonly cellar: { readonly cellar: string; readonly title: string } | null
  /** Default: the keys. */
  readonly tab?: 'keys' | 'settings'
  readonly apiKey?: { readonly keyId: string; readonly label: string }
}): JSX.Element => (
  <nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      <li>
        <a href={paths.cellars}>Cellars</a>
      </li>
      {props.cellar === null ? null : (
        <>
          <li>
            <a href={paths.cellar(props.cellar.cellar)}>
              <Name text={props.cellar.title} />
            </a>
          </li>
          <li>
            {props.tab === 'settings' ? (
              <a href={paths.settings(props.cellar.cellar)}>Settings</a>
            ) : (
              <a href={paths.keys(props.cellar.cellar)}>API Keys</a>
            )}
          </li>
        </>
      )}
      {props.apiKey === undefined ? null : (
        <li>
          <a href={paths.key(props.apiKey.keyId)}>
            <Name text={props.apiKey.label} />
          </a>
        </li>
      )}
    </ol>
  </nav>
)
