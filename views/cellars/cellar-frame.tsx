import type { Children } from '@kitajs/html'
import { Layout } from '../frame/layout.tsx'
import { Name } from '../parts/name.tsx'
import { Crumbs, NavLinks } from '../parts/nav-links.tsx'
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
      <NavLinks
        class="tabs"
        label="Pages of this cellar"
        links={[
          { words: 'Readings', href: paths.cellar(cellar.cellar), isCurrent: props.tab === 'readings' },
          { words: 'API Keys', href: paths.keys(cellar.cellar), isCurrent: props.tab === 'keys' },
          { words: 'Settings', href: paths.settings(cellar.cellar), isCurrent: props.tab === 'settings' },
        ]}
      />
      {props.children}
    </Layout>
  )
}

export const Breadcrumbs = ({
  cellar,
  tab = 'keys',
  apiKey,
}: {
  readonly cellar: { readonly cellar: string; readonly title: string } | null
  readonly tab?: 'keys' | 'settings'
  readonly apiKey?: { readonly keyId: string; readonly label: string }
}): JSX.Element => (
  <Crumbs
    crumbs={[
      <a href={paths.cellars}>Cellars</a>,
      ...(cellar === null
        ? []
        : [
            <a href={paths.cellar(cellar.cellar)}>
              <Name text={cellar.title} />
            </a>,
            tab === 'settings' ? (
              <a href={paths.settings(cellar.cellar)}>Settings</a>
            ) : (
              <a href={paths.keys(cellar.cellar)}>API Keys</a>
            ),
          ]),
      ...(apiKey === undefined
        ? []
        : [
            <a href={paths.key(apiKey.keyId)}>
              <Name text={apiKey.label} />
            </a>,
          ]),
    ]}
  />
)
