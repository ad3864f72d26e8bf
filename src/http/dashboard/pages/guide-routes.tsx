import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DocumentPage } from '../../../../views/frame/document.tsx'
import { paths } from '../../../../views/paths.ts'
import { htmlPage } from '../page-answers.tsx'
import type { Route } from '../visit.ts'

/** Shows the guide for devices. Its HTML is not escaped. That is safe, because its only source is docs/devices.md. */
export const guideRoutes = (): readonly Route[] => {
  const markdown = readFileSync(fileURLToPath(new URL('../../../../docs/devices.md', import.meta.url)), 'utf8')
  const safeHtml = focusableBlocks(Bun.markdown.html(markdown))
  return [
    {
      path: paths.devicesGuide,
      get: {
        access: 'operator',
        answer: (visit) =>
          htmlPage(visit, <DocumentPage shell={visit.shell} title="Device guide" safeHtml={safeHtml} />),
      },
    },
  ]
}

/** Wide code and tables scroll sideways. With `tabindex`, the keyboard can focus and scroll them too. */
const focusableBlocks = (html: string): string =>
  html.replaceAll('<pre>', '<pre tabindex="0">').replaceAll('<table>', '<table tabindex="0">')
