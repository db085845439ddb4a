// Which history a version belongs to.
//
// Version numbers repeat: a backup that is restored and imported into goes on with the numbers that
// the store had before. So each import draws a few random characters, its lineage. No two imports
// have the same, whatever their store and number; copies of a store share the lineages of the
// imports that they share. What a client keeps and sends back later, such as an entity tag, is made
// of a lineage, never of a version number.

import { randomBytes } from 'node:crypto'

/** Draws the lineage of an import: 48 random bits, as 12 hexadecimal digits. */
export function drawLineage(): string {
  return randomBytes(6).toString('hex')
}
