// No line has more than 100 characters. The formatter sees to code; this, to comments and texts.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const longest = 100
const root = join(import.meta.dirname, '..')

/** What cannot be broken: an address, a regular expression; in tests, a text, too. */
const unbreakable = { src: /:\/\/|[=(,:\s]\/[^/*\s].*\//, others: /:\/\/|['"`]/ }

const faults: string[] = []
for (const path of globSync('{src,test,bench,torture,fuzz,scripts}/**/*.ts', { cwd: root })) {
  const allowed = path.startsWith('src/') ? unbreakable.src : unbreakable.others
  for (const [at, line] of readFileSync(join(root, path), 'utf8').split('\n').entries()) {
    if (line.length <= longest || allowed.test(line)) continue
    faults.push(`${path}:${at + 1}: ${line.length} characters, at most ${longest}`)
  }
}
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
