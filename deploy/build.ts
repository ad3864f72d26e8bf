/**
 * Builds the program as one executable for each system, with Bun, the files of the pages and the guide in it.
 * `bun run build` makes all in dist/. `bun run build here FOLDER` makes only that for this machine.
 * For another system, Bun downloads its executable from the npm registry, once.
 */
import { dirname, join } from 'node:path'
import { Glob } from 'bun'

const root = join(import.meta.dir, '..')

/** For `program-files.ts`: the bundler cannot see what is read. */
const files = [
  ...new Glob('views/assets/*').scanSync(root),
  ...new Glob('docs/programs/*').scanSync(root),
  'docs/devices.md',
  'node_modules/htmx.org/dist/htmx.min.js',
  'node_modules/htmx.org/dist/ext/hx-sse.min.js',
  'node_modules/uplot/dist/uPlot.iife.min.js',
]

/** The bundler follows imports, but does not see the modules of threads. */
const threads = async (): Promise<readonly string[]> => {
  const found: string[] = []
  for (const path of new Glob('src/**/*.ts').scanSync(root)) {
    const text = await Bun.file(join(root, path)).text()
    for (const [, module = ''] of text.matchAll(/new URL\('(\.\/[^']+)', import\.meta\.url\)/g))
      found.push(join(dirname(path), module))
  }
  return found
}

const build = async (system: 'linux-x64' | 'linux-arm64', folder: string): Promise<void> => {
  const outfile = join(folder, `cellarbook-${system}`)
  const { outputs } = await Bun.build({
    entrypoints: ['src/main.ts', ...(await threads())].map((path) => join(root, path)),
    root,
    // All in one folder: the program is one file there, and finds its threads beside it.
    naming: { entry: '[name].[ext]' },
    compile: {
      target: `bun-${system}`,
      outfile,
      assets: files.map((path) => join(root, path)),
      // Settings come from the environment alone, and not from files in the folder where somebody starts the program.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    // Names stay, because a stack trace and Elysia show and read them.
    minify: { whitespace: true, syntax: true },
    sourcemap: 'linked',
    // 16 MiB more, for a start in two thirds of the time.
    format: 'esm',
    bytecode: true,
  })
  // The executable has them, too.
  for (const { kind, path } of outputs) if (kind === 'sourcemap') await Bun.file(path).delete()
  process.stdout.write(`${outfile} ${(Bun.file(outfile).size / 1_048_576).toFixed(1)} MiB\n`)
}

const [which = 'all', folder = join(root, 'dist')] = process.argv.slice(2)
const here = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64'
for (const system of ['linux-x64', 'linux-arm64'] as const)
  if (which === 'all' || system === here) await build(system, folder)
