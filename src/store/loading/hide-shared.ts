// A record has one content in all of its companies, and texts are withheld within a company. So
// what is withheld in one of a record's companies is hidden in the rows of an import for all of
// them.

import { inBatches } from '../listing/in-batches.ts'
import type { ImportContext } from './context.ts'
import { companiesOf } from './record-differences.ts'
import type { StagedValue } from './staging/temporary-database.ts'
import { parseFields, stagedRowIn, textIn } from './staging/spool.ts'

const recordsAtOnce = 1_000

const givenRecords = `
  select id, json_group_array(company_id), json_group_array(seq), coalesce(min(key), id)
  from stage
  where digest is not null and company_id is not null group by id`

const rowsOfRecord = `
  select s.seq, s.at, s.length from json_each(?) e cross join stage s on s.seq = e.value`

const replaceRow = 'update stage set digest = $digest, at = $at, length = $length where seq = $seq'

/** The natural key of a row that was dropped may name who is withheld. */
const dropKeys = `
  delete from keys where is_new and key not in (select key from stage where key is not null)`

/** Hides in the rows of records in several companies what is withheld in any of them. */
export async function hideInShared(context: ImportContext): Promise<void> {
  const { staging, tables, plan, gate } = context
  for (const batch of inBatches(staging.iterate(givenRecords), recordsAtOnce)) {
    const companies = new Map(batch.map(([id, given]) => [Number(id), new Set(numbersIn(given))]))
    const listed = await tables.whereListed(plan.target.name, [...companies.keys()])
    for (const { id, companyId } of listed) companies.get(id)?.add(companyId)
    for (const [id, , seqs = null, name] of batch) {
      const own = [...(companies.get(Number(id)) ?? [])]
      const others = gate.droppedFrom.get(name as number | string) ?? []
      if (own.length + others.length < 2) continue
      hideInRows(context, seqs, [...(await companiesOf(context, own)), ...others])
    }
  }
  if (staging.facts.hasKeys) staging.run(dropKeys)
}

const numbersIn = (list: unknown) => JSON.parse(String(list)) as number[]

function hideInRows(
  { staging, gate }: ImportContext,
  seqs: StagedValue,
  companies: Parameters<ImportContext['gate']['passSharedOf']>[0],
): void {
  const pass = gate.passSharedOf(companies)
  for (const [[seq = null], bytes] of staging.read(rowsOfRecord, seqs)) {
    const { id: _, ...fields } = parseFields(textIn(bytes))
    const row = { ...stagedRowIn(bytes), content: JSON.stringify(fields) }
    const passed = pass(row)
    if (passed === undefined) {
      staging.run('delete from stage where seq = $seq', { seq })
      staging.facts.rows -= 1
    } else if (passed !== row) staging.run(replaceRow, { seq, ...staging.rewrite(bytes, passed) })
  }
}
