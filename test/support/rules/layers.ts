/**
 * The rules of ARCHITECTURE.md, "The house", as functions: a test can give them a file that breaks a rule. They check
 * the syntax tree, so words in comments and strings do not count.
 */
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

export const linesMax = 400

type Layer =
  | 'start'
  | 'app'
  | 'limits'
  | 'parameters'
  | 'log lines'
  | 'thread'
  | 'schedule'
  | 'characters'
  | 'seeded map'
  | 'histogram'
  | 'bytes'
  | 'domain'
  | 'port'
  | 'log'
  | 'derived'
  | 'asked'
  | 'actors'
  | 'facts'
  | 'password judge'
  | 'webhooks'
  | 'export'
  | 'words'
  | 'http'
  | 'cli'
  | 'projections'
  | 'views'

/** The first pattern that matches a path decides its layer. `words` are the files with the texts of refusals. */
const layers: readonly (readonly [pattern: RegExp, layer: Layer])[] = [
  [/^src\/(main|run-commands|service|facts-of-service|open-log|health|log-check-report)\.ts$|^src\/listen\//, 'start'],
  [/^src\/webhooks\/webhooks-of-service\.ts$/, 'start'],
  [/^src\/app\.ts$/, 'app'],
  [/^src\/(limits|http\/http-bounds)\.ts$/, 'limits'],
  [/^src\/(config|variables|eventstore-url|clock|entropy)\.ts$/, 'parameters'],
  [/^src\/log-lines\.ts$/, 'log lines'],
  [/^src\/worker-thread\.ts$/, 'thread'],
  [/^src\/schedule\.ts$/, 'schedule'],
  [/^src\/hidden-characters\.ts$/, 'characters'],
  [/^src\/seeded-map\.ts$/, 'seeded map'],
  [/^src\/histogram\.ts$/, 'histogram'],
  [/^src\/bytes\//, 'bytes'],
  [/^src\/domain\//, 'domain'],
  [/^src\/log\/(event-log|append-figures|source|repeats-index|ask-index|event-place)\.ts$/, 'port'],
  [/^src\/log\//, 'log'],
  [/^src\/derived\//, 'derived'],
  [/^src\/asked\//, 'asked'],
  [/^src\/actors\//, 'actors'],
  [/^src\/facts\//, 'facts'],
  [/^src\/password-judge\//, 'password judge'],
  [/^src\/webhooks\//, 'webhooks'],
  [/^src\/export\//, 'export'],
  [/^src\/http\/(problem|command-problem|field-words|malformed-json-words)\.ts$/, 'words'],
  [/^src\/http\//, 'http'],
  [/^src\/cli\//, 'cli'],
  [/^projections\//, 'projections'],
  [/^views\//, 'views'],
]

export const layerOf = (path: string): Layer | null => layers.find(([pattern]) => pattern.test(path))?.[1] ?? null

/** The layers whose code a layer may call. */
const mayImport: Readonly<Record<Layer, readonly Layer[] | 'everything'>> = {
  start: 'everything',
  app: ['http', 'words', 'domain', 'schedule'],
  limits: [],
  parameters: ['domain', 'limits'],
  'log lines': ['parameters', 'limits', 'characters'],
  thread: [],
  schedule: [],
  characters: [],
  'seeded map': [],
  histogram: [],
  bytes: ['seeded map'],
  domain: ['limits', 'characters'],
  port: ['domain', 'histogram'],
  log: ['port', 'domain', 'bytes', 'limits', 'thread', 'schedule', 'seeded map'],
  derived: ['log', 'port', 'domain', 'bytes', 'limits', 'thread', 'schedule', 'seeded map'],
  asked: ['derived', 'actors', 'export', 'log', 'port', 'projections', 'domain', 'limits'],
  actors: ['domain', 'projections', 'port', 'limits', 'schedule'],
  facts: ['domain', 'histogram', 'limits', 'schedule'],
  'password judge': ['domain', 'limits', 'thread', 'schedule'],
  webhooks: ['domain', 'log', 'parameters', 'limits', 'schedule'],
  export: ['actors', 'port', 'domain', 'limits', 'characters'],
  words: ['domain', 'limits'],
  http: [
    'actors',
    'export',
    'projections',
    'views',
    'domain',
    'port',
    'words',
    'limits',
    'schedule',
    'histogram',
    'facts',
  ],
  cli: ['actors', 'export', 'projections', 'domain', 'port', 'log', 'words', 'parameters', 'limits', 'characters'],
  projections: ['domain', 'bytes', 'limits', 'seeded map'],
  views: ['characters'],
}

/** The layers from which a layer may import types only. For example, `parameters` has the types of clocks and of entropy. */
const mayName: Readonly<Partial<Record<Layer, readonly Layer[]>>> = {
  app: ['actors', 'asked', 'derived', 'domain', 'export', 'projections'],
  log: ['parameters'],
  derived: ['actors', 'parameters'],
  actors: ['asked', 'derived', 'parameters'],
  facts: ['actors', 'derived', 'port', 'views'],
  'password judge': ['actors'],
  webhooks: ['actors'],
  http: ['asked', 'derived', 'parameters'],
  cli: ['derived'],
  export: ['derived'],
  views: ['domain', 'projections'],
}

const packages: Readonly<Partial<Record<Layer, RegExp>>> = {
  limits: /^$/,
  thread: /^node:fs$/,
  schedule: /^$/,
  characters: /^$/,
  'seeded map': /^$/,
  histogram: /^$/,
  bytes: /^$/,
  domain: /^(@sinclair\/typebox|node:crypto)$/,
  port: /^$/,
  actors: /^$/,
  facts: /^prom-client\/lib\/registry\.js$/,
  'password judge': /^@zxcvbn-ts\/(core|language-common)$/,
  webhooks: /^(ipaddr\.js|node:(crypto|dns\/promises|fs|net|path))$/,
  words: /^$/,
  projections: /^$/,
  views: /^@kitajs\/html$/,
}

/** These layers may not use a clock, random numbers, `await` or I/O, so that the same input gives the same result. */
const pureLayers: readonly Layer[] = ['bytes', 'domain', 'projections', 'views', 'limits', 'characters']

const impureGlobals = new Set([
  'Date',
  'performance',
  'crypto',
  'fetch',
  'process',
  'console',
  'globalThis',
  'require',
  'Worker',
  'WebSocket',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
])
const pureMembersOfBun = new Set(['SHA256', 'CryptoHasher', 'hash'])
const pureNamesOfNodeCrypto = new Set(['timingSafeEqual', 'createHash', 'hash'])

/** Only these entry points of a process or a thread may do something when they are imported. */
const beginners = new Set([
  'src/main.ts',
  'src/run-commands.ts',
  'src/log/sqlite/commit-thread.ts',
  'src/derived/follower-thread.ts',
  'src/derived/quick-check-thread.ts',
  'src/asked/question-thread.ts',
  'src/log/verify/check-thread.ts',
  'src/password-judge/weak-password-thread.ts',
])

/** Returns what breaks a rule, each as `path:line` and a reason. */
export const violationsOf = (path: string, text: string): readonly string[] => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const found: string[] = []
  const report = (node: ts.Node, what: string): void => {
    found.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${what}`)
  }
  const layer = layerOf(path)
  if (layer === null) found.push(`${path}:1 lies in no layer that ARCHITECTURE.md knows`)
  else judgeImports(file, layer, report)
  if (layer !== null && pureLayers.includes(layer)) everyNode(file, (node) => judgePurity(node, report))
  if (!beginners.has(path)) for (const statement of file.statements) judgeAtImport(statement, report)
  if (!/^src\/http\/(command-)?problem\.ts$/.test(path) && !path.startsWith('src/http/dashboard/')) {
    everyNode(file, (node) => judgeStatus(node, report))
  }
  everyNode(file, (node) => judgeExport(node, report))
  found.push(...judgeText(path, text))
  return found
}

type Report = (node: ts.Node, what: string) => void

/** Checks the rules about text, which also hold for tests and benchmarks. */
export const judgeText = (path: string, text: string): readonly string[] => {
  const found: string[] = []
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    if (/\b(?:TO|FIX)(?:DO|ME)\b|\bX{3}\b/.test(line)) found.push(`${path}:${index + 1} leaves work undone`)
  }
  const count = lines.length - 1
  if (/^(src|projections|views)\//.test(path) && count > linesMax) {
    found.push(`${path}:1 has ${count} lines: the most is ${linesMax}`)
  }
  return found
}

const judgeImports = (file: ts.SourceFile, layer: Layer, report: Report): void => {
  everyNode(file, (node) => {
    const imported = importOf(node)
    if (imported === null) return
    const { specifier, isTypeOnly } = imported
    if (!specifier.startsWith('.')) {
      const allowed = packages[layer]
      if (allowed !== undefined && !allowed.test(specifier)) report(node, `${layer} may not import ${specifier}`)
      return
    }
    const target = layerOf(normalize(join(dirname(file.fileName), specifier)))
    const callable = mayImport[layer]
    if (target === layer || callable === 'everything') return
    if (target !== null && callable.includes(target)) return
    if (target !== null && isTypeOnly && mayName[layer]?.includes(target)) return
    report(node, `${layer} may not import ${target ?? specifier}${isTypeOnly ? ', not even its types' : ''}`)
  })
}

const importOf = (node: ts.Node): { readonly specifier: string; readonly isTypeOnly: boolean } | null => {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const clause = node.importClause
    const bindings = clause?.namedBindings
    const areTypes =
      bindings !== undefined && ts.isNamedImports(bindings) && bindings.elements.every(({ isTypeOnly }) => isTypeOnly)
    const isTypeOnly = clause?.isTypeOnly === true || (clause?.name === undefined && areTypes)
    return { specifier: node.moduleSpecifier.text, isTypeOnly }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, isTypeOnly: node.isTypeOnly }
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments
    return {
      specifier: argument && ts.isStringLiteral(argument) ? argument.text : 'a computed name',
      isTypeOnly: false,
    }
  }
  return null
}

const judgePurity = (node: ts.Node, report: Report): void => {
  if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node)) report(node, 'waits, where all is pure')
  if (ts.isForOfStatement(node) && node.awaitModifier !== undefined) report(node, 'waits, where all is pure')
  if (ts.isImportSpecifier(node) && namedFrom(node) === 'node:crypto' && !pureNamesOfNodeCrypto.has(node.name.text)) {
    report(node, `uses ${node.name.text} of node:crypto, where all is pure`)
  }
  if (!ts.isPropertyAccessExpression(node)) {
    if (ts.isIdentifier(node) && impureGlobals.has(node.text) && isReference(node) && !isCalendar(node)) {
      report(node, `uses ${node.text}, where all is pure`)
    }
    return
  }
  const { expression, name } = node
  if (!ts.isIdentifier(expression)) return
  if (expression.text === 'Math' && name.text === 'random') report(node, 'uses Math.random, where all is pure')
  if (expression.text === 'Bun' && !pureMembersOfBun.has(name.text)) {
    report(node, `uses Bun.${name.text}, where all is pure`)
  }
}

/** True for `new Date(ms)`, which asks no clock. */
const isCalendar = ({ text, parent }: ts.Identifier): boolean =>
  text === 'Date' && ts.isNewExpression(parent) && parent.arguments?.length === 1

const namedFrom = (node: ts.ImportSpecifier): string => {
  const { moduleSpecifier } = node.parent.parent.parent
  return ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : ''
}

/**
 * True if the name is used as a value here, so it can be a global. False for names of members, types and declarations.
 */
const isReference = (node: ts.Identifier): boolean => {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isTypeNode(parent)) return false
  const isNamed =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isVariableDeclaration(parent) ||
    ts.isJsxAttribute(parent)
  return !(isNamed && parent.name === node)
}

/** Reports statements that run at import, because importing a file must have no side effects. */
const judgeAtImport = (statement: ts.Statement, report: Report): void => {
  const defines =
    ts.isImportDeclaration(statement) ||
    ts.isExportDeclaration(statement) ||
    ts.isExportAssignment(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isVariableStatement(statement) ||
    isAmbient(statement) ||
    fillsTable(statement)
  if (!defines) report(statement, 'does something when it is imported')
  if (!ts.isVariableStatement(statement)) return
  for (const { initializer } of statement.declarationList.declarations) {
    if (initializer !== undefined && ts.isAwaitExpression(initializer)) {
      report(statement, 'waits when it is imported')
    }
  }
}

/** True for the types of a package that has none. */
const isAmbient = (statement: ts.Statement): boolean =>
  ts.isModuleDeclaration(statement) &&
  statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true

/** True for a loop that only fills a table of its own file, which has no effect elsewhere. */
const fillsTable = (statement: ts.Statement): boolean =>
  ts.isForOfStatement(statement) &&
  ts.isExpressionStatement(statement.statement) &&
  ts.isBinaryExpression(statement.statement.expression) &&
  statement.statement.expression.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
  ts.isElementAccessExpression(statement.statement.expression.left) &&
  ts.isIdentifier(statement.statement.expression.right)

/** Reports for instance `status: 429`. Only `problem.ts` and the dashboard may decide an HTTP status of 400 or more. */
const judgeStatus = (node: ts.Node, report: Report): void => {
  if (!ts.isPropertyAssignment(node) || !ts.isIdentifier(node.name) || node.name.text !== 'status') return
  if (ts.isNumericLiteral(node.initializer) && Number(node.initializer.text) >= 400) {
    report(node, `decides status ${node.initializer.text}, which is for src/http/problem.ts to say`)
  }
}

const judgeExport = (node: ts.Node, report: Report): void => {
  const isDefault = ts.isExportAssignment(node) && node.isExportEquals !== true
  if (isDefault || node.kind === ts.SyntaxKind.DefaultKeyword) {
    if (!ts.isDefaultClause(node.parent)) report(node, 'exports by default')
  }
}

const everyNode = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node)
  node.forEachChild((child) => everyNode(child, visit))
}
