// Tries to damage stores by disturbing imports: `npm run torture`, or `npm run torture -- kills`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRandom } from '../src/demo/random.ts'
import { readOptions } from '../test/support/script-options.ts'
import { campaigns } from './campaigns.ts'
import type { Outcome } from './outcome.ts'

const options = readOptions({
  name: 'torture',
  summary: 'Tries to damage stores by disturbing imports, one campaign after the other.',
  numbers: {
    seed: { usual: Date.now() % 1_000_000, meaning: 'repeat the moments of this seed' },
    kills: { usual: 200, meaning: 'number of first loads to kill, and of updates' },
    rows: { usual: 20_000, meaning: 'number of rows of the extracts' },
  },
  words: { meaning: 'Campaigns (default: all)', known: Object.keys(campaigns) },
})

interface Sum {
  readonly name: string
  good: number
  bad: number
  skipped: number
  readonly startedAt: number
}

function report(name: string, sum: Sum, { what, found, fault, isSkipped }: Outcome): void {
  const mark = fault !== undefined ? 'BAD' : isSkipped ? 'skipped' : 'ok'
  if (fault !== undefined) sum.bad += 1
  else if (isSkipped) sum.skipped += 1
  else sum.good += 1
  console.log(`${mark.padEnd(8)}${name}: ${what}: ${found}`)
  if (fault !== undefined) console.log(`        ${fault}`)
}

const folder = mkdtempSync(join(tmpdir(), 'dossier-torture-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
console.log(`seed ${options.number('seed')}`)
const sums: Sum[] = []
for (const name of options.words) {
  const campaign = campaigns[name]
  if (campaign === undefined) continue
  const sum: Sum = { name, good: 0, bad: 0, skipped: 0, startedAt: performance.now() }
  sums.push(sum)
  const ground = {
    random: createRandom(options.number('seed')),
    seed: options.number('seed'),
    kills: options.number('kills'),
    rows: options.number('rows'),
    folder,
    isShort: false,
  }
  for await (const outcome of campaign(ground)) report(name, sum, outcome)
  console.log(`        ${name} took ${((performance.now() - sum.startedAt) / 1_000).toFixed(0)} s`)
}

console.log(
  `\n${'campaign'.padEnd(16)}${'good'.padStart(8)}${'bad'.padStart(8)}${'skipped'.padStart(9)}`,
)
for (const { name, good, bad, skipped } of sums) {
  const cells = [good, bad].map((count) => String(count).padStart(8)).join('')
  console.log(`${name.padEnd(16)}${cells}${String(skipped).padStart(9)}`)
}
process.exitCode = sums.some(({ bad }) => bad > 0) ? 1 : 0
