/** Rules about the shape of the code: how large a folder and a function may be, which names are taken, and who imports whom. */
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

export const filesPerFolderMax = 20
export const functionLinesMax = 70

export type SourceText = readonly [path: string, text: string]

/** Folders that hold more than `filesPerFolderMax` files. Files of a subfolder count for the subfolder only. */
export const crowdedFolders = (paths: readonly string[]): readonly string[] =>
  [...grouped(paths, dirname)]
    .filter(([, files]) => files.length > filesPerFolderMax)
    .map(([folder, files]) => `${folder} holds ${files.length} files`)

/** Files that share their name without its extension. A reader who searches for one of them would find both. */
export const sharedNames = (paths: readonly string[]): readonly string[] =>
  [...grouped(paths, baseNameOf)].filter(([, files]) => files.length > 1).map(([, files]) => files.join(' and '))

const baseNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.tsx?$/, '')

const grouped = (
  paths: readonly string[],
  nameOf: (path: string) => string,
): ReadonlyMap<string, readonly string[]> => {
  const groups = new Map<string, string[]>()
  for (const path of paths) groups.set(nameOf(path), [...(groups.get(nameOf(path)) ?? []), path])
  return groups
}

export const longFunctions = ([path, text]: SourceText): readonly string[] => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && linesOf(file, node) > functionLinesMax) found.push(`${path} ${nameOf(node)}`)
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

const linesOf = (file: ts.SourceFile, node: ts.Node): number =>
  file.getLineAndCharacterOfPosition(node.end).line - file.getLineAndCharacterOfPosition(node.getStart()).line + 1

const nameOf = (node: ts.SignatureDeclaration): string => {
  if (node.name !== undefined) return node.name.getText()
  return ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : 'a function without a name'
}

/**
 * Groups of files that import one another, also for types only. A newcomer cannot read one of them without the others.
 */
export const importCircles = (files: readonly SourceText[]): readonly (readonly string[])[] => {
  const imports = new Map(files.map((file) => [file[0], importsOf(file)]))
  const reached = new Map([...imports.keys()].map((path) => [path, reachableFrom(imports, path)]))
  const circles = new Map<string, readonly string[]>()
  for (const [path, paths] of reached) {
    if (!paths.has(path)) continue
    const circle = [...paths].filter((other) => reached.get(other)?.has(path) === true).sort()
    circles.set(circle.join(), circle)
  }
  return [...circles.values()]
}

const importsOf = ([path, text]: SourceText): readonly string[] =>
  ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => isFile(fileName))
    .map(({ fileName }) => normalize(join(dirname(path), fileName)))

const isFile = (imported: string): boolean => imported.startsWith('.')

/** The packages that a program loads when it starts with the file `path`. Imports of types and `import()` load nothing then. */
export const packagesLoadedBy = (path: string, files: readonly SourceText[]): ReadonlySet<string> => {
  const loaded = new Map(files.map((file) => [file[0], loadedBy(file)]))
  const reached = [path, ...reachableFrom(loaded, path)]
  return new Set(reached.flatMap((file) => loaded.get(file) ?? []).filter((imported) => !loaded.has(imported)))
}

/** Returns imported files as paths of the project, and imported packages by their names. */
const loadedBy = ([path, text]: SourceText): readonly string[] =>
  ts
    .createSourceFile(path, text, ts.ScriptTarget.ESNext)
    .statements.filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
    .filter((statement) => !isOfTypes(statement))
    .map(({ moduleSpecifier }) => moduleSpecifier)
    .filter((specifier) => specifier !== undefined && ts.isStringLiteral(specifier))
    .map(({ text: imported }) => (isFile(imported) ? normalize(join(dirname(path), imported)) : imported))

const isOfTypes = (statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean =>
  ts.isImportDeclaration(statement) ? statement.importClause?.isTypeOnly === true : statement.isTypeOnly

const reachableFrom = (imports: ReadonlyMap<string, readonly string[]>, path: string): ReadonlySet<string> => {
  const reached = new Set<string>()
  const open = [path]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const imported of imports.get(next) ?? []) {
      if (reached.has(imported)) continue
      reached.add(imported)
      open.push(imported)
    }
  }
  return reached
}
