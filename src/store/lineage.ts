// Identifies the history to which a version belongs.
//
// Version numbers repeat: when a restored backup is imported into, it reuses numbers that the store
// had already used. So each import draws a few random characters, its lineage, which no other
// import has. Copies of a store share the lineages of the imports that they share. Whatever clients
// keep and send back later, such as an entity tag, is made from a lineage, never from a version
// number.

import { randomBytes } from 'node:crypto'

/** Draws the lineage of an import: 48 random bits, as 12 hexadecimal digits. */
export function drawLineage(): string {
  return randomBytes(6).toString('hex')
}
