// Tries to harm stores by imports: `npm run torture`, or `npm run torture -- --only kills`.
//
//   --seed N      repeats a run: the same moments are chosen, as far as a machine repeats itself
//   --kills N     how many first loads and how many updates are killed (200)
//   --rows N      how many rows the extracts have (20,000)
//   --only NAME   one of the campaigns; may be given several times

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../src/demo/random.ts'
import { campaigns } from './campaigns.ts'
import type { Outcome } from './outcome.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '200' },
    rows: { type: 'string', default: '20000' },
    only: { type: 'string', multiple: true, default: Object.keys(campaigns) },
  },
})

interface Sum {
  readonly name: string
  good: number
  bad: number
  skipped: number
  readonly startedAt: number
}

function tell(name: string, sum: Sum, { what, found, fault, isSkipped }: Outcome): void {
  const mark = fault !== undefined ? 'BAD' : isSkipped ? 'skipped' : 'ok'
  if (fault !== undefined) sum.bad += 1
  else if (isSkipped) sum.skipped += 1
  else sum.good += 1
  console.log(`${mark.padEnd(8)}${name}: ${what}: ${found}`)
  if (fault !== undefined) console.log(`        ${fault}`)
}

const folder = mkdtempSync(join(tmpdir(), 'dossier-torture-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
console.log(`seed ${values.seed}`)
const sums: Sum[] = []
for (const name of values.only) {
  const campaign = campaigns[name]
  if (campaign === undefined) {
    console.error(`no campaign ${name}; known are ${Object.keys(campaigns).join(', ')}`)
    process.exit(2)
  }
  const sum: Sum = { name, good: 0, bad: 0, skipped: 0, startedAt: performance.now() }
  sums.push(sum)
  const ground = {
    random: createRandom(Number(values.seed)),
    kills: Number(values.kills),
    rows: Number(values.rows),
    folder,
    isShort: false,
  }
  for await (const outcome of campaign(ground)) tell(name, sum, outcome)
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
