// Checks that a server's memory and descriptors have not grown.

import type { Found } from './campaigns.ts'

/** How much memory may grow from the warm server to the end. */
const growthMax = 1.1
/** How much a heap varies between measurements, in MB. */
const swingMb = 32

/** Returns faults of memory and descriptors; none if the system does not report them. */
export function memoryFault({ memoryMb, descriptors }: Pick<Found, 'memoryMb' | 'descriptors'>) {
  const faults: string[] = []
  const [warm, end] = memoryMb
  if (warm !== undefined && end !== undefined && end > warm * growthMax + swingMb) {
    faults.push(`memory has grown from ${warm.toFixed(0)} to ${end.toFixed(0)} MB`)
  }
  const [before, after] = descriptors
  if (before !== after) faults.push(`descriptors: ${before} before, ${after} after`)
  return faults
}
