import { type Children, escapeHtml } from '@kitajs/html'
import { attribute } from './name.tsx'
import { countText } from './quantity.ts'

type NavLink = {
  readonly href: string
  readonly words: string
  readonly isCurrent: boolean
  readonly count?: number
}

export const NavLinks = (props: {
  readonly label: string
  readonly class?: string
  readonly links: readonly NavLink[]
}): JSX.Element => (
  <nav class={props.class} aria-label={props.label}>
    <ul>
      {props.links.map(({ href, words, isCurrent, count }) => (
        <li>
          <a href={attribute(href)} aria-current={isCurrent ? 'page' : undefined}>
            <NavWords words={words} {...(count !== undefined && { count })} />
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

export const NavWords = ({ words, count }: Pick<NavLink, 'words' | 'count'>): JSX.Element => (
  <>
    {escapeHtml(words)}
    {count === undefined ? null : (
      <>
        {' '}
        <span class="count" safe>
          {countText(count)}
        </span>
      </>
    )}
  </>
)

export const Crumbs = (props: { readonly crumbs: readonly Children[] }): JSX.Element => (
  <nav class="crumbs" aria-label="Breadcrumb">
    <ol>
      {props.crumbs.map((crumb) => (
        <li>{crumb}</li>
      ))}
    </ol>
  </nav>
)
