// Reads several tables side by side, company by company, so that what belongs together is compared
// without keeping a table.

import type { Batches, RegistryDatabase } from '../sql/database.ts'

/** A row that begins with the id of its company. */
type OfCompany = readonly [companyId: number, ...unknown[]]

/**
 * The rows of queries, each sorted by its first column: the rows of some consecutive companies at a
 * time, by query.
 *
 * @param rowsAtOnce how many rows of the first query are read at a time, and the others of their
 *   companies.
 */
export async function* sideBySide<Rows extends Readonly<Record<string, OfCompany>>>(
  db: Pick<RegistryDatabase, 'batches'>,
  queries: { readonly [Name in keyof Rows]: string },
  rowsAtOnce: number,
): AsyncGenerator<{ readonly [Name in keyof Rows]: readonly Rows[Name][] }> {
  const readers = Object.entries<string>(queries).map(([name, sql]) => {
    return [name, createReader(db.batches<OfCompany>(sql))] as const
  })
  for (let upTo = 0; upTo < Infinity;) {
    upTo = (await readers[0]?.[1].companyAt(rowsAtOnce)) ?? Infinity
    const rows: Record<string, readonly OfCompany[]> = {}
    for (const [name, reader] of readers) rows[name] = await reader.take(upTo)
    yield rows as never
  }
}

const companyOf = (row: OfCompany | undefined) => row?.[0] ?? Infinity

function createReader(batches: Batches<OfCompany>) {
  const source = (async function* () {
    yield* batches
  })()
  let rows: readonly OfCompany[] = []
  let isAtEnd = false
  async function readMore(): Promise<void> {
    const next = await source.next()
    if (next.done === true) isAtEnd = true
    else rows = [...rows, ...next.value]
  }
  return {
    /** The company of the nth row from here; Infinity if there are fewer rows. */
    async companyAt(n: number): Promise<number> {
      while (rows.length < n && !isAtEnd) await readMore()
      return companyOf(rows[n - 1])
    },
    /** Takes the next rows, up to those of a given company. */
    async take(upTo: number): Promise<readonly OfCompany[]> {
      while (!isAtEnd && (rows.length === 0 || companyOf(rows.at(-1)) <= upTo)) await readMore()
      const end = rows.findIndex((row) => companyOf(row) > upTo)
      const taken = end < 0 ? rows : rows.slice(0, end)
      rows = rows.slice(taken.length)
      return taken
    },
  }
}
