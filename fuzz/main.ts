// Sends requests that no sound client would: `npm run fuzz`, or `npm run fuzz -- --seed 7`.
//
//   --seed N       repeats a run: the same requests
//   --requests N   how many structured requests (1,000,000)
//   --raw N        how many mutated raw requests (200,000)
//   --keys N       how many keys are made and looked at (1,000,000)

import { parseArgs } from 'node:util'
import { createScope } from './scope.ts'
import { type Found, fuzzRaw, fuzzStructured } from './campaigns.ts'
import { findKeyFaults } from './keys.ts'
import { startFuzzed } from './server.ts'
import { memoryFault } from './verdict.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    requests: { type: 'string', default: '1000000' },
    raw: { type: 'string', default: '200000' },
    keys: { type: 'string', default: '1000000' },
  },
})

const seed = Number(values.seed)
console.log(`seed ${seed}`)
const isGood: boolean[] = []
for (const [name, campaign, count] of [
  ['structured', fuzzStructured, Number(values.requests)],
  ['raw', fuzzRaw, Number(values.raw)],
] as const) {
  if (count === 0) continue
  const scope = createScope()
  try {
    const server = await startFuzzed(scope)
    const onProgress = (sent: number) => {
      if (sent % 50_000 === 0) console.log(`  ${name}: ${sent} sent`)
    }
    isGood.push(tell(name, await campaign({ server, seed, count, onProgress })))
  } finally {
    await scope.close()
  }
}
const keyFaults = findKeyFaults(Number(values.keys))
for (const fault of keyFaults) console.log(`BAD ${fault}`)
console.log(`keys: ${values.keys} made, ${keyFaults.length} faults`)
isGood.push(keyFaults.length === 0)
process.exitCode = isGood.every(Boolean) ? 0 : 1

function tell(name: string, found: Found): boolean {
  const { sent, seconds, statuses, memoryMb, descriptors } = found
  const faults = [...found.faults, ...memoryFault(found)]
  for (const fault of faults) console.log(`BAD ${fault}`)
  const counts = [...statuses].toSorted(([a], [b]) => a - b)
  const megabytes = memoryMb.map((mb) => mb?.toFixed(0) ?? '?').join(' MB, then ')
  console.log(`${name}: ${sent} requests in ${seconds.toFixed(0)} s, ${faults.length} faults`)
  console.log(`  answers: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
  console.log(`  resident: ${megabytes} MB; descriptors: ${descriptors.join(', then ')}`)
  return faults.length === 0
}
