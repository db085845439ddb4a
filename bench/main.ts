// Measures performance: `npm run bench`, or only some measures: `npm run bench -- hot-page import`.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../test/support/script-options.ts'
import { folder } from './files.ts'
import { type Figure, median } from './figures.ts'
import { measures } from './measures.ts'

const options = readOptions({
  name: 'bench',
  summary: 'Measures performance, and prints each result with its target.',
  flags: {
    quick: 'use a tenth of the data',
    clean: 'first remove the data of earlier runs',
  },
  words: { meaning: 'Measures (default: all)', known: Object.keys(measures) },
})
if (options.has('clean')) rmSync(folder, { recursive: true, force: true })

function isMet({ values, reach }: Figure): boolean {
  return 'least' in reach ? median(values) >= reach.least : median(values) <= reach.most
}

function show(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

function line(figure: Figure): string {
  const { what, unit, values, reach } = figure
  const range = `${show(Math.min(...values))} to ${show(Math.max(...values))}`
  const goal = 'least' in reach ? `≥ ${show(reach.least)}` : `≤ ${show(reach.most)}`
  const cells = [what.padEnd(52), show(median(values)).padStart(9), unit.padEnd(15)]
  return `${cells.join('  ')}  ${range.padEnd(20)}  ${goal.padEnd(10)}  ${isMet(figure) ? 'met' : 'NOT MET'}`
}

const figures: Figure[] = []
for (const name of options.words) {
  for (const figure of (await measures[name]?.(options.has('quick') ? 0.1 : 1)) ?? []) {
    figures.push(figure)
    console.log(line(figure))
  }
}

const results = join(import.meta.dirname, 'results')
mkdirSync(results, { recursive: true })
const path = join(results, `${new Date().toISOString().replaceAll(':', '-')}.json`)
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version }
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname })
  .toString()
  .trim()
const summaries = figures.map((figure) => ({
  ...figure,
  median: median(figure.values),
  isMet: isMet(figure),
}))
writeFileSync(
  path,
  `${JSON.stringify({ commit, machine, args: process.argv.slice(2), figures: summaries }, null, 2)}\n`,
)
console.log(`\nwritten to ${path}`)
