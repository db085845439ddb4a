// Finds what an import of companies changes in what its source says: fills `change` and `removal`.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { digestBytes, type ListedRecord } from '../listing/segment.ts'
import type { OnShare } from '../sql/merge-progress.ts'
import { readAttributes, statementOf } from '../companies/attributes.ts'
import { allCompanies, companiesOfRows, lastCompanyOf } from './company-rows.ts'
import type { ImportContext } from './context.ts'

/** Rows whose attributes differ from the source's last ones, or whose company was absent. */
export const createDiffering = `
  create table if not exists differing (
    seq integer primary key, company_id integer, is_known integer, is_present integer,
    is_same integer, as_of text
  )`

/** Compares the rows with what their source has said. */
export async function findDiffering(context: ImportContext, onShare: OnShare): Promise<void> {
  const { staging, tables, plan, source } = context
  staging.run([createDiffering, 'delete from differing', 'delete from removal'])
  const total = lastCompanyOf(staging)
  const refusedIds = new Set(
    staging
      .rows('select company_id from stage where digest is null and company_id is not null')
      .map(([id]) => Number(id)),
  )
  const name = plan.target.name
  const batches = plan.isSnapshot ? allCompanies(staging, tables, name) : companiesOfRows(staging)
  for await (const batch of batches) {
    const companies = batch.map(({ companyId }) => companyId)
    const said = await readAttributes(tables, companies)
    for (const { companyId: company, seqs, digests } of batch) {
      const record = said.get(company)?.find((one) => one.source === source)
      for (const [at, seq] of seqs.entries()) {
        const digest = digests.subarray(at * digestBytes, (at + 1) * digestBytes)
        noteDiffering(context, { company, seq, digest, record })
      }
      const isGone = seqs.length === 0 && !refusedIds.has(company)
      if (isGone && record !== undefined && statementOf(record).isPresent) {
        staging.insert('removal', company, company, null)
      }
    }
    onShare(Math.min(1, (companies.at(-1) ?? 0) / total))
    await nextTurn()
  }
}

function noteDiffering(
  { staging }: ImportContext,
  row: {
    readonly company: number
    readonly seq: number
    readonly digest: Uint8Array
    readonly record: ListedRecord | undefined
  },
): void {
  const { company, seq, digest, record } = row
  const known = record && statementOf(record)
  const isSame = record !== undefined && Buffer.compare(record.digest, digest) === 0
  if (isSame && known?.isPresent === true) return
  const [isKnown, isPresent] = [Number(known !== undefined), Number(known?.isPresent ?? false)]
  staging.insert('differing', seq, company, isKnown, isPresent, Number(isSame), known?.asOf ?? null)
}

/** A history cannot record changes whose dates go backwards. */
export const refuseEarlier = `
  insert into refused
    select s.seq, 'as_of', coalesce(s.as_of, $asOf),
      'is before ' || d.as_of || ', the date of the data in the registry'
    from differing d join stage s on s.seq = d.seq
    where $asOf is not null and coalesce(s.as_of, $asOf) < d.as_of and d.is_known and not d.is_same
    on conflict do nothing`

/** Those that were not refused; a company that returns counts as new. */
export const changeDiffering = `
  insert into change
    select d.company_id, d.company_id, d.seq, d.is_present, 1, null
    from differing d
    where exists (select 1 from stage s where s.seq = d.seq and s.digest is not null)`
