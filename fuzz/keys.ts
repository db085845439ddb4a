// Large numbers of keys (row C18): all different, of the published pattern, with a valid checksum.

import { randomBytes } from 'node:crypto'
import { isWellFormedKey, makeKey } from '../src/auth/key.ts'

/** The pattern that the guides publish for secret scanners. */
const published = /^dossier_[0-9A-Za-z]{49}$/

/** Makes keys like `dossier keys create`; returns what is wrong with them. */
export function findKeyFaults(count: number): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  for (let made = 0; made < count; made += 1) {
    const key = makeKey(randomBytes(32))
    if (!published.test(key)) faults.push(`${key} is not of the published pattern`)
    if (!isWellFormedKey(key)) faults.push(`${key} has a wrong checksum`)
    seen.add(key)
  }
  if (seen.size < count) faults.push(`${count - seen.size} of ${count} keys have been made before`)
  return faults
}
