// Sends unusual and invalid requests: `npm run fuzz`, or `npm run fuzz -- --seed 7`.

import { readOptions } from '../test/support/script-options.ts'
import { type Found, fuzzRaw, fuzzStructured } from './campaigns.ts'
import { findKeyFaults } from './keys.ts'
import { startFuzzed } from './server.ts'

/** How much memory may grow from the warm server to the end. */
const growthMax = 1.1
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
  isGood.push(report(name, await campaign({ server, seed, count, onProgress })))
}
const keyFaults = findKeyFaults(options.number('keys'))
for (const fault of keyFaults) console.log(`BAD ${fault}`)
console.log(`keys: ${options.number('keys')} made, ${keyFaults.length} faults`)
isGood.push(keyFaults.length === 0)
process.exitCode = isGood.every(Boolean) ? 0 : 1

function report(name: string, found: Found): boolean {
  const { sent, seconds, statuses, memoryMb, descriptors } = found
  const faults = [...found.faults, ...growth(found)]
  for (const fault of faults) console.log(`BAD ${fault}`)
  const counts = [...statuses].toSorted(([a], [b]) => a - b)
  const megabytes = memoryMb.map((mb) => mb?.toFixed(0) ?? '?').join(' MB, then ')
  console.log(`${name}: ${sent} requests in ${seconds.toFixed(0)} s, ${faults.length} faults`)
  console.log(`  answers: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
  console.log(`  resident: ${megabytes} MB; descriptors: ${descriptors.join(', then ')}`)
  return faults.length === 0
}

/** Describes how memory and descriptors have grown; nothing if the system does not report them. */
function growth({ memoryMb: [warm, end], descriptors: [before, after] }: Found): string[] {
  const isLarger = warm !== undefined && end !== undefined && end > warm * growthMax + swingMb
  return [
    ...(isLarger ? [`memory has grown from ${warm.toFixed(0)} to ${end.toFixed(0)} MB`] : []),
    ...(before === after ? [] : [`descriptors: ${before} before, ${after} after`]),
  ]
}
