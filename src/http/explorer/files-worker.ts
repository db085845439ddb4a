// A thread that makes the explorer's files ready for browsers, with their types stripped. There is
// no bundler: a browser loads the modules. Loading Node's type stripper alone takes 30 ms, and no
// request should wait for that.

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'

export interface ExplorerFiles {
  /** The hash of all files: the folder in their addresses, so that browsers may keep them. */
  readonly hash: string
  readonly files: readonly ExplorerFile[]
}

interface ExplorerFile {
  /** The path in the explorer's folder, such as `pictures/axis.ts`; `htm` for that package. */
  readonly name: string
  readonly type: string
  readonly text: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const folder = join(import.meta.dirname, '../../explorer')
const own = globSync('**/*.{ts,css,svg}', { cwd: folder }).toSorted()
const packages = ['preact', 'preact/hooks', 'htm']
const files = [
  ...own.map((name) => makeFile(name, join(folder, name))),
  ...packages.map((name) => makeFile(name, new URL(import.meta.resolve(name)))),
]
const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
parentPort?.postMessage({ hash, files } satisfies ExplorerFiles)

function makeFile(name: string, path: string | URL): ExplorerFile {
  const source = readFileSync(path, 'utf8')
  const text = withoutComments(name.endsWith('.ts') ? stripTypeScriptTypes(source) : source)
  // Packages are served next to the explorer's own modules.
  const root = '../'.repeat(name.split('/').length - 1) || './'
  return {
    name,
    type: types[extname(name)] ?? 'text/javascript; charset=utf-8',
    text: text.replace(/(\bfrom\s*['"])(?=[a-z])/g, `$1${root}`),
  }
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
