// The files that campaigns import: two extracts of one register, of companies and of records. The
// second one lacks a tenth of the rows, changes a tenth, moves a twentieth to another day, and adds
// new ones.

import { writeRows } from '../test/support/import-rows.ts'

/** One of the two extracts of a register. */
export type Extract = 'first' | 'second'

const attributes = ['address', 'name', 'status', 'officers', 'capital']

interface Fate {
  readonly isThere: boolean
  readonly isChanged: boolean
  readonly isMoved: boolean
}

/** How row `n` of `rows` appears in an extract. */
function fateOf(extract: Extract, n: number, rows: number): Fate {
  if (extract === 'first') return { isThere: n < rows, isChanged: false, isMoved: false }
  return {
    isThere: n % 10 !== 3 || n >= rows,
    isChanged: n % 10 === 5,
    isMoved: n % 20 === 7,
  }
}

function company(n: number): string {
  return `C${String(n).padStart(6, '0')}`
}

/** A company in the form of a register. */
function companyRow(n: number, { isChanged, isMoved }: Fate): Record<string, unknown> {
  return {
    jurisdiction: 'GB',
    identifier: company(n),
    name: `Company number ${n} of some length Limited`,
    address: `${isChanged ? n + 1 : n} Quay Street, Felixstowe`,
    tickers: isMoved ? [`T${n}`, `U${n}`] : [`T${n}`],
    employees: n % 500,
  }
}

/** An event in the form of a register, identified by its key; 50 per listing. */
function eventRow(n: number, rows: number, { isChanged, isMoved }: Fate): Record<string, unknown> {
  // 7,919 is prime: neighbours in the file are far apart in the store.
  const of = company((n * 7_919) % Math.ceil(rows / 50))
  const date = new Date(Date.UTC(2000, 0, 1) + (isMoved ? n + 9_000 : n) * 3_600_000)
  return {
    key: `E-${n}`,
    company_jurisdiction: 'GB',
    company_identifier: of,
    date: `${date.toISOString().slice(0, 19)}Z`,
    attr: attributes[(isChanged ? n + 1 : n) % attributes.length],
    before: `The value number ${n} of some length, so that a page holds some dozens of them`,
    after: `The value number ${isChanged ? n + 1 : n + 2} of some length`,
    identifier: of,
  }
}

/** Writes an extract of about `rows` rows as NDJSON. */
export function writeExtract(
  path: string,
  target: 'companies' | 'events',
  extract: Extract,
  rows: number,
): void {
  const last = extract === 'first' ? rows : rows + rows / 20
  const fates = Array.from({ length: Math.ceil(last) }, (_, n) => fateOf(extract, n, rows))
  const rowOf = (fate: Fate, n: number) =>
    target === 'companies' ? companyRow(n, fate) : eventRow(n, rows, fate)
  writeRows(
    path,
    fates.flatMap((fate, n) => (fate.isThere ? [rowOf(fate, n)] : [])),
  )
}

/** The same companies as CSV, which DuckDB reads. */
export function companiesCsv(extract: Extract, rows: number): string {
  const lines = ['jurisdiction,identifier,name,address']
  for (let n = 0; n < rows; n++) {
    const fate = fateOf(extract, n, rows)
    if (!fate.isThere) continue
    const { name, address } = companyRow(n, fate)
    lines.push(`GB,${company(n)},${String(name)},"${String(address)}"`)
  }
  return `${lines.join('\n')}\n`
}
