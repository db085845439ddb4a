// A thread that makes the explorer's files ready for browsers: its modules in one, without types.
// Loading Node's type stripper alone takes 30 ms, and no request should wait for that.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { extname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { makeOneModule } from './one-module.ts'

export interface ExplorerFiles {
  /** The hash of all files: the folder in their addresses, so that browsers may keep them. */
  readonly hash: string
  readonly files: readonly ExplorerFile[]
}

interface ExplorerFile {
  /** The path in the folder of all files: `main.js`; `preact/hooks` for that package. */
  readonly name: string
  readonly type: string
  readonly text: string
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const folder = join(import.meta.dirname, '../../explorer')
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const files = [
  makeFile(
    'main.js',
    makeOneModule('main.ts', (name) => withoutTypes(read(name))),
  ),
  ...['preact', 'preact/hooks', 'htm'].map((name) => {
    return makeFile(name, readFileSync(new URL(import.meta.resolve(name)), 'utf8'))
  }),
  ...['style.css', 'icon.svg'].map((name) => makeFile(name, read(name))),
]
const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)
parentPort?.postMessage({ hash, files } satisfies ExplorerFiles)

function makeFile(name: string, text: string): ExplorerFile {
  // Packages are served next to the explorer's own module.
  const root = '../'.repeat(name.split('/').length - 1) || './'
  return {
    name,
    type: types[extname(name)] ?? 'text/javascript; charset=utf-8',
    text: withoutComments(text).replace(/(\bfrom\s*['"])(?=[a-z])/g, `$1${root}`),
  }
}

/** Leaves out the blanks, too, that the stripper puts in the place of each type. */
function withoutTypes(text: string): string {
  const isOwn = (blank: string, at: number) => (text[at] === ' ' ? blank : '')
  return stripTypeScriptTypes(text).replaceAll(' ', isOwn)
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
