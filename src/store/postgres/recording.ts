// What an import changes, recorded as records of another resource: found before the merge writes
// over it, appended after it, in the same transaction.

import type { Client } from 'pg'
import type { Resource } from '../../resources/resource.ts'
import { collectDifferences, type DifferenceRow } from '../differences.ts'
import type { Difference, Recording, StagedRow } from '../store.ts'
import { batchesOf } from './batches.ts'
import { companyDifferences } from './merge-companies.ts'
import { findSighted, gone } from '../merge-steps.ts'
import { appendRecords, recordText } from './merge.ts'
import { type Parameters, writeIn } from './parameters.ts'
import { insertStaged } from './stage.ts'

/**
 * Stages the records that tell what the merge is about to change, behind row `after` of the stage,
 * and gives how many they are.
 *
 * To be called after the merge has found its changes and before it applies them.
 *
 * @param resource undefined where companies are imported
 */
export async function stageDifferences(
  client: Client,
  resource: Resource | undefined,
  recording: Recording,
  parameters: Parameters,
  after: number,
): Promise<number> {
  if (resource) {
    await client.query(writeIn(findSighted(resource.name, recording.resource.name), parameters))
    await client.query('analyze sighted')
  }
  const sql = resource ? listingDifferences(resource.name) : companyDifferences
  const differences = collectDifferences()
  let recorded = 0

  async function stage(found: readonly Difference[]): Promise<void> {
    const rows: StagedRow[] = found.flatMap((difference) =>
      recording
        .record(difference)
        .map((row) => ({ ...row, companyId: difference.companyId }) satisfies StagedRow),
    )
    await insertStaged(client, after + recorded, rows)
    recorded += rows.length
  }

  for await (const rows of batchesOf<DifferenceRow>(client, writeIn(sql, parameters))) {
    await stage(rows.map((row) => differences.add(row)).filter((found) => found !== undefined))
  }
  const last = differences.end()
  if (last) await stage([last])
  return recorded
}

/** The statements that append what was recorded after row `$after` of the stage. */
export function appendRecorded(history: Resource): readonly string[] {
  const used = [
    'change',
    'removal',
    'touched',
    'large',
    'edit',
    'pending',
    'type_change',
    'new_meta',
  ]
  return [...used.map((name) => `drop table if exists pg_temp.${name}`), ...appendRecords(history)]
}

const listingDifferences = (name: string) => `
  select k.id, k.jurisdiction, k.identifier, $asOf as as_of,
    true as was_present, true as is_present, d.text, d.is_before, d.is_after
  from (
    select r.company_id, r.id, r.record as text, true as is_before,
        g.position is null as is_after
      from sighted t
      join ${name} r on r.company_id = t.company_id and r.source_id = $source
      left join ${gone} g on g.company_id = r.company_id and g.position = r.position
    union all
    select c.company_id, c.id, ${recordText}, false, true
      from sighted t
      join change c on c.company_id = t.company_id
      join stage s on s.seq = c.seq
  ) d
  join companies k on k.id = d.company_id
  order by d.company_id, d.id`
