// Makes the explorer's files ready for browsers: types stripped, and each named by the hash of its
// content, so that browsers keep it for good. There is no bundler: a browser loads the modules.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, posix } from 'node:path'

/** A file as it is served. */
export interface ExplorerFile {
  /** Without the hash, such as `pictures/axis.js`. */
  readonly name: string
  /** Under its folder, such as `pictures-axis.5f2e0c81d7a94b36.js`. */
  readonly hashedName: string
  readonly type: string
  readonly text: string
}

/** The modules that the explorer takes from packages, by the file that each is. */
const packages: Readonly<Record<string, string>> = {
  preact: import.meta.resolve('preact'),
  'preact/hooks': import.meta.resolve('preact/hooks'),
  htm: import.meta.resolve('htm'),
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const source = join(import.meta.dirname, '../../explorer')

/**
 * Reads and prepares all files of the explorer: tenths of a second of processor time.
 *
 * @throws Error if a module imports what is not served, or two modules import each other.
 */
export function makeExplorerFiles(): readonly ExplorerFile[] {
  const ready = new Map<string, ExplorerFile>()
  const underWay = new Set<string>()

  /** Makes a module after those that it imports, since their hashes are in its text. */
  function makeModule(name: string): ExplorerFile {
    const made = ready.get(name)
    if (made !== undefined) return made
    if (underWay.has(name)) throw new Error(`${name} imports itself through others`)
    underWay.add(name)
    const text = readModule(name).replace(
      /(\bfrom\s*)(['"])([\w./-]+)\2/g,
      (_whole, before: string, quote: string, specifier: string) =>
        `${before}${quote}./${makeModule(moduleNamed(specifier, name)).hashedName}${quote}`,
    )
    const file = makeFile(name.replace(/\.ts$/, '.js'), text)
    ready.set(name, file)
    return file
  }

  makeModule('main.ts')
  const others = globSync('*.{css,svg}', { cwd: source }).map((name) =>
    makeFile(name, withoutComments(readFileSync(join(source, name), 'utf8'))),
  )
  return [...ready.values(), ...others]
}

function readModule(name: string): string {
  const packaged = packages[name]
  if (packaged !== undefined) {
    return readFileSync(new URL(packaged), 'utf8').replace(/\n\/\/# sourceMappingURL=.*$/m, '')
  }
  return withoutComments(stripTypeScriptTypes(readFileSync(join(source, name), 'utf8')))
}

/**
 * Leaves out indentation, and lines that are comments or blank: a third of the bytes. In templates,
 * blanks at the beginning of a line mean nothing.
 */
function withoutComments(text: string): string {
  let isInComment = false
  const lines = text.split('\n').map((line) => line.trim())
  const kept = lines.filter((line) => {
    if (line.startsWith('/*')) isInComment = true
    const isKept = !isInComment && line !== '' && !line.startsWith('//')
    if (line.endsWith('*/')) isInComment = false
    return isKept
  })
  return kept.join('\n')
}

function moduleNamed(specifier: string, importer: string): string {
  if (packages[specifier] !== undefined) return specifier
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier)
  throw new Error(`${importer} imports ${specifier}, which is not served`)
}

function makeFile(name: string, text: string): ExplorerFile {
  const { name: stem, ext: given, dir } = posix.parse(name)
  const ext = given === '' ? '.js' : given
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const flat = [...dir.split('/'), stem].filter((part) => part !== '').join('-')
  return { name, hashedName: `${flat}.${hash}${ext}`, type: types[ext] ?? '', text }
}
