// Limits the number of types in a company's `meta` (contract 3.7), both for imported records and
// for recorded changes, before anything is written: the first types that fit are taken.

import { metaTypesMax } from '../../resources/resource.ts'
import { formatCount } from '../../text/format-count.ts'
import { OperatorError } from '../../config/operator-error.ts'
import type { Recording } from '../importing.ts'
import { addToCount, parseMeta } from '../listing/shape.ts'
import { versionMax } from '../listing/open-listings.ts'
import { inBatches } from '../listing/tables.ts'
import type { ImportContext } from './context.ts'
import { dropRefused } from './place.ts'
import { fieldsIn } from './staging/spool.ts'

/** Refuses the rows whose types are too many; returns whether there are any. */
export async function refuseTypes(context: ImportContext): Promise<boolean> {
  const { staging, plan } = context
  const { name, resource } = plan.target
  const metaOf = resource?.metaOf
  if (metaOf === undefined) return false
  let isExceeded = false
  for await (const { company, types, limit } of crowdedBy(context, name, 'change')) {
    for (const [was] of staging.rows(
      `select was from change where company_id = ?1
       union all select was from removal where company_id = ?1`,
      company,
    )) {
      addToCount(types, was, -1)
    }
    const rows = staging.read(
      `select c.seq, s.at, s.length from change c cross join stage s on s.seq = c.seq
       where c.company_id = ? order by c.seq`,
      company,
    )
    for (const [[seq], row] of rows) {
      const type = String(fieldsIn(row)[metaOf])
      if (types.has(type) || types.size < limit) {
        addToCount(types, type, 1)
        continue
      }
      isExceeded = true
      const [value, reason] = [type, `exceeds ${typesAllowed()}`]
      staging.run(refuseRecord, { seq: Number(seq), field: metaOf, value, reason })
    }
  }
  return isExceeded
}

/** Refuses the rows whose changes cannot be recorded; returns whether there are any. */
export async function refuseRecorded(
  context: ImportContext,
  { resource }: Recording,
): Promise<boolean> {
  const { staging } = context
  const { name, metaOf, changeFields } = resource
  if (metaOf === undefined) return false
  const recorded = `stage where seq > ${staging.staged()}`
  let isExceeded = false
  for await (const { company, types, limit } of crowdedBy(context, name, recorded)) {
    const sql = `select at, length from ${recorded} and company_id = ? order by seq`
    for (const [, row] of staging.read(sql, company)) {
      const record = fieldsIn(row)
      addToCount(types, record[metaOf], 1)
      if (types.size <= limit) continue
      isExceeded = true
      const value = (record[changeFields?.after ?? ''] ?? null) as string | null
      const reason = `would be recorded, and exceed ${typesAllowed()}`
      const refusal = { field: String(record[metaOf]), value, reason }
      const rows = staging.rows('select seq from change where company_id = ?', company)
      if (rows.length === 0) throw unrecordable(name, company)
      for (const [seq] of rows) staging.run(refuseRecord, { seq: Number(seq), ...refusal })
      break
    }
  }
  return isExceeded
}

/** Refuses a row, and all others of its record. */
const refuseRecord = `
  insert into refused
    select p.seq, $field, $value, $reason from stage s
    join (
      select seq, id from stage where digest is not null
      union all
      select seq, id from repetition
    ) p on p.id = s.id
    where s.seq = $seq
    on conflict do nothing`

/** Begins again: without the refused rows, the changes are others. */
export function discardChanges({ staging }: ImportContext): void {
  if (!staging.isLoaded()) staging.loadAll()
  staging.run(dropRefused)
  staging.run(['delete from change', 'delete from removal'])
  staging.run('delete from stage where seq > $staged', { staged: staging.staged() })
}

// Not a constant, which would load number formats (30 ms) at the start of every command.
const typesAllowed = () => `the ${formatCount(metaTypesMax)} kinds that a company may have`

function unrecordable(name: string, company: number): OperatorError {
  return new OperatorError(
    `changes of company ${company} cannot be recorded: its ${name} would be of more than ` +
      `${formatCount(metaTypesMax)} kinds; to record nothing, import without --as-of`,
  )
}

interface Crowded {
  readonly company: number
  /** How many records of its listing have each type. */
  readonly types: Map<string, number>
  /** How many types it may have: those that there are stay. */
  readonly limit: number
}

/** The companies whose types could become too many, if each of some rows brought another one. */
async function* crowdedBy(
  { staging, tables }: ImportContext,
  listing: string,
  rows: string,
): AsyncGenerator<Crowded> {
  const counts = staging.rows(
    `select company_id, count(*) from ${rows} group by company_id order by company_id`,
  )
  for (const batch of inBatches(counts, 500)) {
    const companies = batch.map(([company]) => Number(company))
    const heads = await tables.heads(listing, companies, versionMax)
    const metaOf = new Map(heads.map(({ companyId, meta }) => [companyId, meta]))
    for (const [company, count] of batch) {
      const types = parseMeta(metaOf.get(Number(company)) ?? '[]')
      if (types.size + Number(count) <= metaTypesMax) continue
      yield { company: Number(company), types, limit: Math.max(metaTypesMax, types.size) }
    }
  }
}
