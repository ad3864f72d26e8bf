import { type Children, escapeHtml } from '@kitajs/html'
import { attribute, Name } from './name.tsx'
import { countText } from './quantity.ts'

type NavLink = {
  readonly href: string
  readonly words: string
  /** Somebody has chosen the words. */
  readonly isTyped?: boolean
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
      {props.links.map(({ href, words, isTyped = false, isCurrent, count }) => (
        <li>
          <a href={attribute(href)} aria-current={isCurrent ? 'page' : undefined}>
            <NavWords words={words} isTyped={isTyped} {...(count !== undefined && { count })} />
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

export const NavWords = ({ words, isTyped, count }: Pick<NavLink, 'words' | 'isTyped' | 'count'>): JSX.Element => (
  <>
    {isTyped ? <Name text={words} /> : escapeHtml(words)}
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
