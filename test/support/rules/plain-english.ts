/**
 * Finds the sentences of comments, documents and test titles. A test keeps them short (CONTRIBUTING.md, "Write it").
 */
import ts from 'typescript'

export const sentenceWordsMax = 25
export const titleWordsMax = 15

/** A text that people read without a break, and the line on which it begins. */
export type Passage = { readonly line: number; readonly text: string }

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

/**
 * The comments of a source file. Consecutive line comments are one passage, because a sentence can continue on the next
 * line.
 */
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

/** Removes the signs of the comment itself. An annotation such as `@throws` counts as the start of a sentence. */
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

/** The prose of a Markdown document, without code blocks and tables. Each item of a list is a passage of its own. */
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

/** The titles of tests and of their groups, also of tables such as `test.each(…)('…')`. */
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
