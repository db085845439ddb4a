// Sends unusual and invalid requests: `npm run fuzz`, or `npm run fuzz -- --seed 7`.

import { readOptions } from '../test/support/script-options.ts'
import { fuzzRaw, fuzzStructured } from './campaigns.ts'
import { findKeyFaults } from './keys.ts'
import { report } from './report.ts'
import { startFuzzed } from './server.ts'

/** How much a heap varies between measurements, in MB. */
const swingMb = 32

const options = readOptions({
  name: 'fuzz',
  summary: 'Sends unusual and invalid requests, and checks each response against the contract.',
  numbers: {
    seed: { usual: Date.now() % 1_000_000, meaning: 'repeat the requests of this seed' },
    requests: { usual: 1_000_000, meaning: 'number of structured requests' },
    raw: { usual: 200_000, meaning: 'number of mutated raw requests' },
    keys: { usual: 1_000_000, meaning: 'number of keys to make and check' },
  },
})

const seed = options.number('seed')
console.log(`seed ${seed}`)
const isGood: boolean[] = []
for (const [name, campaign, count] of [
  ['structured', fuzzStructured, options.number('requests')],
  ['raw', fuzzRaw, options.number('raw')],
] as const) {
  if (count === 0) continue
  await using stack = new AsyncDisposableStack()
  const server = await startFuzzed({ after: (work) => stack.defer(work) })
  const onProgress = (sent: number) => {
    if (sent % 50_000 === 0) console.log(`  ${name}: ${sent} sent`)
  }
  isGood.push(report(name, await campaign({ server, seed, count, onProgress }), swingMb))
}
const keyFaults = findKeyFaults(options.number('keys'))
for (const fault of keyFaults) console.log(`BAD ${fault}`)
console.log(`keys: ${options.number('keys')} made, ${keyFaults.length} faults`)
isGood.push(keyFaults.length === 0)
process.exitCode = isGood.every(Boolean) ? 0 : 1
