/** Finds the sentences of comments, documents and test titles, so that a test can keep them short (CONTRIBUTING.md, "Write it"). */
import ts from 'typescript'

export const sentenceWordsMax = 25
export const titleWordsMax = 15

/** Text that people read in one go, with the line on which it begins. */
export type Passage = { readonly line: number; readonly text: string }

/** The sentences of a passage that have more than `sentenceWordsMax` words. */
export const longSentences = (text: string): readonly string[] =>
  sentencesOf(text).filter((sentence) => wordsOf(sentence) > sentenceWordsMax)

/** Code in backticks and file names count as one word, since they are read as one. */
export const wordsOf = (sentence: string): number =>
  sentence
    .replace(/`[^`]*`/g, 'code')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length

const sentencesOf = (text: string): readonly string[] =>
  text
    .replace(/`[^`]*`/g, (code) => code.replace(/[.!?]/g, '_'))
    .split(/(?<=[.!?][")”]?)\s+|\n\s*\n/)
    .map((sentence) => sentence.trim())

/** The comments of a source file. Line comments that follow one another are one passage. */
export const commentsOf = (path: string, source: string): readonly Passage[] => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true)
  const found = new Map<number, Passage>()
  let lineEnd = -1
  const keep = (range: ts.CommentRange): void => {
    if (found.has(range.pos)) return
    const line = file.getLineAndCharacterOfPosition(range.pos).line + 1
    found.set(range.pos, { line, text: plainText(source.slice(range.pos, range.end)) })
    lineEnd = Math.max(lineEnd, range.end)
  }
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) keep(range)
    for (const range of ts.getTrailingCommentRanges(source, node.end) ?? []) keep(range)
    node.getChildren(file).forEach(visit)
  }
  visit(file)
  return joined([...found.entries()].sort(([a], [b]) => a - b).map(([, passage]) => passage))
}

/** Without the comment's own signs. An annotation such as `@throws` begins a sentence. */
const plainText = (comment: string): string =>
  comment
    .replace(/^\/\*\*?|\*\/$|^\/\/ ?/g, '')
    .replace(/^\s*\*\s?/gm, '')
    .replace(/@(?=[a-z])/g, '. @')
    .trim()

const joined = (passages: readonly Passage[]): readonly Passage[] => {
  const result: { line: number; text: string; last: number }[] = []
  for (const { line, text } of passages) {
    const before = result.at(-1)
    if (before !== undefined && before.last + 1 === line && !text.includes('\n')) {
      before.text += `\n${text}`
      before.last = line
    } else result.push({ line, text, last: line + text.split('\n').length - 1 })
  }
  return result
}

/** The prose of a Markdown document, without code blocks and tables. Each item of a list is a passage. */
export const proseOf = (markdown: string): readonly Passage[] => {
  const passages: { line: number; text: string }[] = []
  let isCode = false
  let isOpen = false
  for (const [index, line] of markdown.split('\n').entries()) {
    if (line.startsWith('```')) isCode = !isCode
    if (isCode || /^(```|\||#|!\[)/.test(line) || line.trim() === '') {
      isOpen = false
      continue
    }
    const last = passages.at(-1)
    if (isOpen && last !== undefined && !/^\s*([-*>]|\d+\.) /.test(line)) last.text += ` ${line.trim()}`
    else passages.push({ line: index + 1, text: line.replace(/^\s*([-*>]|\d+\.) /, '').trim() })
    isOpen = true
  }
  return passages.map(({ line, text }) => ({ line, text: text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') }))
}

/** Titles of tests and of their groups: what `test('…')`, `test.each(…)('…')` and `describe('…')` are called with. */
export const titlesOf = (path: string, source: string): readonly Passage[] => {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.ESNext, true)
  const titles: Passage[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(test|describe)\b/.test(node.expression.getText(file))) {
      const [title] = node.arguments
      if (title !== undefined && ts.isStringLiteralLike(title)) {
        titles.push({ line: file.getLineAndCharacterOfPosition(title.getStart()).line + 1, text: title.text })
      }
    }
    node.forEachChild(visit)
  }
  visit(file)
  return titles
}
