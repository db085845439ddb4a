// Names companies anew where their source names them in another attribute.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { traceCompanies } from '../changes/trace.ts'
import { attributesShape } from '../listing/shape.ts'
import type { ListingTables } from '../listing/tables.ts'
import { attributesInTurn } from './attributes.ts'
import { type NameKeeper, nameOf } from './keep-names.ts'

const companiesAtOnce = 400

/** Renames companies: from this version on, another attribute of the source has their names. */
export async function renameAll(
  tables: ListingTables,
  version: number,
  names: NameKeeper,
): Promise<void> {
  const [before, now] = [await tables.sources(version - 1), await tables.sources()]
  for (let after = -1; after < Infinity;) {
    const range = { after, limit: companiesAtOnce }
    const companies = await tables.companiesWith(attributesShape.listing, range)
    for await (const said of attributesInTurn(tables, companies)) {
      const renamed = [...said].filter(([, one]) => nameOf(one, before) !== nameOf(one, now))
      await names.change(new Map(renamed))
      await traceCompanies(
        tables,
        version,
        renamed.map(([company]) => company),
      )
    }
    after = companies.at(-1) ?? Infinity
    await nextTurn()
  }
}
