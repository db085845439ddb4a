// The test files that took most processor time.

import { existsSync, readFileSync } from 'node:fs'

const shown = 10

/** Formats the first of the files that test/support/processor-account.ts wrote down. */
export function dearestFiles(account: string, part: string): string {
  const lines = existsSync(account) ? readFileSync(account, 'utf8').trim().split('\n') : []
  const files = lines.map((line) => {
    const [file = '', own, children, all] = line.split('\t')
    return { file, own: Number(own), children: Number(children), all: Number(all) }
  })
  const sum = files.reduce((total, { own, children }) => total + own + children, 0)
  const dearest = files.sort((a, b) => b.own + b.children - a.own - a.children).slice(0, shown)
  const rows = dearest.map(({ file, own, children, all }) =>
    [seconds(own + children), seconds(own), seconds(all), ` ${file}`].join(' '),
  )
  const head = `${part}: ${sum.toFixed(0)} s of processor time in ${files.length} files; dearest:`
  return [head, '  all s   own s  wall s  file', ...rows, ''].join('\n')
}

function seconds(value: number): string {
  return value.toFixed(1).padStart(7)
}
