// Finds segments that no head names.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RegistryDatabase } from '../registry-connection.ts'
import type { Report } from './faults.ts'

export type NumberSet = ReturnType<typeof createNumberSet>

/** A set of the numbers of segments, of which there may be many millions: a bit each. */
export function createNumberSet() {
  let bits = new Uint8Array(1_024)
  return {
    add(number: number): void {
      const at = Math.floor(number / 8)
      if (at >= bits.length) {
        const larger = new Uint8Array(2 * at)
        larger.set(bits)
        bits = larger
      }
      bits[at] = (bits[at] ?? 0) | (1 << (number % 8))
    },
    has: (number: number) => ((bits[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0,
  }
}

/** Compares the segments that are there with those that heads name. */
export async function checkOrphans(
  db: RegistryDatabase,
  named: NumberSet,
  report: Report,
  onStep: (step: string) => void,
): Promise<void> {
  const last = await db.tables.lastSegment()
  for await (const rows of db.batches('select segment, company_id from segments')) {
    onStep('segments')
    for (const row of rows) {
      const [segment, company] = [Number(row['segment']), String(row['company_id'])]
      const place = `segment ${segment} of company ${company}`
      if (!named.has(segment)) report('segments', `${place}: no head names it`)
      if (segment > last) report('segments', `${place}: its number is above the last one, ${last}`)
    }
    await nextTurn()
  }
}
