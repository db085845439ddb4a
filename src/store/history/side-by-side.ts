// Reads several tables side by side, company by company, so that what belongs together is compared
// without keeping a table.

import type { RegistryDatabase, Row } from '../sql/database.ts'

/** The rows of some consecutive companies, by query. */
export type CompanyRows<Name extends string> = Readonly<Record<Name, readonly Row[]>>

/**
 * The rows of queries, each in the order of its column `company_id`.
 *
 * @param rowsAtOnce how many rows of the first query come together, and the others of their
 *   companies.
 */
export async function* sideBySide<Name extends string>(
  db: Pick<RegistryDatabase, 'batches'>,
  queries: Readonly<Record<Name, string>>,
  rowsAtOnce: number,
): AsyncGenerator<CompanyRows<Name>> {
  const readers = Object.entries<string>(queries).map(([name, sql]) => {
    return [name, createReader(db.batches(sql))] as const
  })
  for (let upTo = 0; upTo < Infinity;) {
    upTo = (await readers[0]?.[1].companyAt(rowsAtOnce)) ?? Infinity
    const rows: Record<string, readonly Row[]> = {}
    for (const [name, reader] of readers) rows[name] = await reader.take(upTo)
    yield rows as CompanyRows<Name>
  }
}

const companyOf = (row: Row | undefined) => Number(row?.['company_id'] ?? Infinity)

function createReader(batches: ReturnType<RegistryDatabase['batches']>) {
  const source = (async function* () {
    yield* batches
  })()
  let rows: readonly Row[] = []
  let isAtEnd = false
  async function readMore(): Promise<void> {
    const next = await source.next()
    if (next.done === true) isAtEnd = true
    else rows = [...rows, ...next.value]
  }
  return {
    /** The company of the nth row that follows; Infinity if there are fewer. */
    async companyAt(n: number): Promise<number> {
      while (rows.length < n && !isAtEnd) await readMore()
      return companyOf(rows[n - 1])
    },
    /** Takes the rows that follow, of companies up to one. */
    async take(upTo: number): Promise<readonly Row[]> {
      while (!isAtEnd && (rows.length === 0 || companyOf(rows.at(-1)) <= upTo)) await readMore()
      const end = rows.findIndex((row) => companyOf(row) > upTo)
      const taken = end < 0 ? rows : rows.slice(0, end)
      rows = rows.slice(taken.length)
      return taken
    },
  }
}
