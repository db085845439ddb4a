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

type Mark = 'ok' | 'BAD' | 'skipped'

function report(name: string, { what, found, fault, isSkipped }: Outcome): Mark {
  const mark = fault !== undefined ? 'BAD' : isSkipped ? 'skipped' : 'ok'
  console.log(`${mark.padEnd(8)}${name}: ${what}: ${found}`)
  if (fault !== undefined) console.log(`        ${fault}`)
  return mark
}

const folder = mkdtempSync(join(tmpdir(), 'dossier-torture-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
console.log(`seed ${options.number('seed')}`)
const sums: Record<string, Record<Mark | 'seconds', number>> = {}
for (const name of options.words) {
  const campaign = campaigns[name]
  if (campaign === undefined) continue
  const startedAt = performance.now()
  const sum = { ok: 0, BAD: 0, skipped: 0, seconds: 0 }
  sums[name] = sum
  const ground = {
    random: createRandom(options.number('seed')),
    seed: options.number('seed'),
    kills: options.number('kills'),
    rows: options.number('rows'),
    folder,
    isShort: false,
  }
  for await (const outcome of campaign(ground)) sum[report(name, outcome)] += 1
  sum.seconds = Math.round((performance.now() - startedAt) / 1_000)
}
console.table(sums)
process.exitCode = Object.values(sums).some(({ BAD }) => BAD > 0) ? 1 : 0
