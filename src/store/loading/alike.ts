// Finds companies of an import that its source has under almost the same name: zeros at the start,
// `.0` at the end, case, or another jurisdiction.

import { readAttributes, statementOf } from '../companies/attributes.ts'
import type { AlikeNames } from '../importing.ts'
import { attributesShape } from '../listing/shape.ts'
import { companiesListed } from './company-rows.ts'
import type { ImportContext } from './context.ts'
import { inBatches } from '../listing/tables.ts'

/** So many companies of the source, and of the import, are looked at. */
const knownMax = 2_000
const newMax = 100_000
const batchLength = 200
const pairsMax = 3

/** The first pairs. */
export async function findAlike(context: ImportContext): Promise<readonly AlikeNames[]> {
  const known = await knownNames(context)
  const pairs: AlikeNames[] = []
  const made = context.staging.iterate(
    `select jurisdiction, identifier from companies where is_new and identifier is not null
     order by id limit ${newMax}`,
  )
  for (const row of made) {
    const [jurisdiction, identifier] = row as [string | null, string]
    const like = known.get(plain(identifier))
    if (like === undefined) continue
    pairs.push({ given: `${jurisdiction ?? ''} ${identifier}`, known: like })
    if (pairs.length === pairsMax) break
  }
  return pairs
}

/** The names of companies that the source has, by what of them matters. */
async function knownNames({
  tables,
  source,
  version,
}: ImportContext): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const listed: number[] = []
  for await (const company of companiesListed(tables, attributesShape.listing)) {
    listed.push(company)
    if (listed.length === knownMax) break
  }
  for (const batch of inBatches(listed, batchLength)) {
    const said = await readAttributes(tables, batch)
    for (const { id, jurisdiction, identifier } of await tables.companiesById(batch)) {
      const own = said.get(id)?.find((one) => one.source === source)
      // The import has written its own companies already.
      const isOwn = own !== undefined && statementOf(own).version < version
      if (!isOwn || identifier === null) continue
      names.set(plain(identifier), `${jurisdiction ?? ''} ${identifier}`)
    }
  }
  return names
}

const plain = (identifier: string) =>
  identifier
    .normalize('NFKC')
    .toUpperCase()
    .replace(/\.0+$/, '')
    .replace(/^0+(?=.)/, '')
