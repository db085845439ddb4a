// Whether a server is as it was: its memory and its descriptors.

import type { Found } from './campaigns.ts'

/** How much larger the memory may be at the end than it was when all had been used once. */
const growthMax = 1.1
/** What a heap swings by from one look to the next, in MB. */
const swingMb = 32

/** What is wrong with the memory and the descriptors; nothing where the system does not tell. */
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
