import { DocumentPage } from '../../../../views/frame/document.tsx'
import { noStore } from '../door/security-headers.ts'
import { htmlPage } from '../page-answers.tsx'
import { programFile } from '../program-files.ts'
import type { Visit } from '../visit.ts'

/** Not escaped. That is safe, because the only source is docs/devices.md. */
export const showGuide = (): ((_: unknown, visit: Visit) => Promise<Response>) => {
  const markdown = documentText('devices.md')
  const safeHtml = withContents(focusableBlocks(Bun.markdown.html(markdown, { headings: { ids: true } })))
  return (_, visit) => htmlPage(visit, <DocumentPage shell={visit.shell} title="Device guide" safeHtml={safeHtml} />)
}

export const programs = ['send.c', 'send.go', 'send.mjs', 'send.py', 'send.sh', 'send_micropython.py']

/** Browsers must not run a program, so its type is not that of its language. */
export const showProgram = (name: string): (() => Response) => {
  const text = documentText(`programs/${name}`)
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': noStore }
  return () => new Response(text, { headers })
}

const documentText = (path: string): string => programFile(`docs/${path}`).toString()

const withContents = (html: string): string => {
  const sections = [...html.matchAll(/<h2 id="([^"]+)">(.*?)<\/h2>/g)]
  const links = sections.map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`)
  return html.replace('<h2 ', `<nav aria-label="Contents"><p>On this page:</p><ul>${links.join('')}</ul></nav>$&`)
}

/** With `tabindex`, the keyboard can scroll wide code and tables, too. */
const focusableBlocks = (html: string): string =>
  html.replaceAll('<pre>', '<pre tabindex="0">').replaceAll('<table>', '<table tabindex="0">')
