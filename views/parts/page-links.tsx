import { attribute } from './name.tsx'
import { countText } from './quantity.ts'

export const PageLinks = (props: {
  readonly page: number
  readonly pages: number
  readonly hrefOf: (page: number) => string
  readonly words: { readonly before: string; readonly behind: string }
}): JSX.Element => {
  const { page, pages, hrefOf, words } = props
  if (pages === 1) return ''
  return (
    <nav class="pages" aria-label="Pages">
      <ul>
        {page > 1 ? (
          <li>
            <a class="action" href={attribute(hrefOf(page - 1))} safe>
              {words.before}
            </a>
          </li>
        ) : null}
        <li class="quiet" safe>{`Page ${countText(page)} of ${countText(pages)}`}</li>
        {page < pages ? (
          <li>
            <a class="action" href={attribute(hrefOf(page + 1))} safe>
              {words.behind}
            </a>
          </li>
        ) : null}
      </ul>
    </nav>
  )
}
