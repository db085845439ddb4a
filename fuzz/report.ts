// The report of a campaign, and whether all was well.

import type { Found } from './campaigns.ts'

/** How much memory may grow from the warm server to the end. */
const growthMax = 1.1

/** Prints what was found; @param swingMb how much more memory may grow, in MB. */
export function report(name: string, found: Found, swingMb: number): boolean {
  const { sent, seconds, statuses, memoryMb, descriptors } = found
  const faults = [...found.faults, ...growth(found, swingMb)]
  for (const fault of faults) console.log(`BAD ${fault}`)
  const counts = [...statuses].toSorted(([a], [b]) => a - b)
  const megabytes = memoryMb.map((mb) => mb?.toFixed(0) ?? '?').join(' MB, then ')
  console.log(`${name}: ${sent} requests in ${seconds.toFixed(0)} s, ${faults.length} faults`)
  console.log(`  answers: ${counts.map(([status, count]) => `${status}: ${count}`).join(', ')}`)
  console.log(`  resident: ${megabytes} MB; descriptors: ${descriptors.join(', then ')}`)
  return faults.length === 0
}

/** Describes how memory and descriptors have grown; nothing if the system does not report them. */
function growth({ memoryMb, descriptors: [before, after] }: Found, swingMb: number): string[] {
  const [warm, end] = memoryMb
  const isLarger = warm !== undefined && end !== undefined && end > warm * growthMax + swingMb
  return [
    ...(isLarger ? [`memory has grown from ${warm.toFixed(0)} to ${end.toFixed(0)} MB`] : []),
    ...(before === after ? [] : [`descriptors: ${before} before, ${after} after`]),
  ]
}
