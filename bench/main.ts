// Measures performance: `npm run bench`, or only some measures: `npm run bench -- hot-page import`.

import { rmSync } from 'node:fs'
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

for (const name of options.words) {
  const figures = (await measures[name]?.(options.has('quick') ? 0.1 : 1)) ?? []
  for (const figure of figures) console.log(line(figure))
}
