// What an import changes, recorded as records of another resource: found before the merge writes
// over it, appended after it, in the same transaction.

import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Resource } from '../../resources/resource.ts'
import { collectDifferences, type DifferenceRow } from '../differences.ts'
import type { Difference, Place, Recording } from '../store.ts'
import { companyDifferences } from './merge-companies.ts'
import { findSighted, gone } from '../merge-steps.ts'
import { appendRecords, recordText } from './merge.ts'
import type { Stage } from './stage.ts'

type Parameters = Record<string, string | number | null>

/**
 * Stages the records that tell what the merge is about to change, and gives how many they are.
 *
 * To be called after the merge has found its changes and before it applies them.
 *
 * @param resource undefined where companies are imported
 */
export async function stageDifferences(
  db: DatabaseSync,
  resource: Resource | undefined,
  recording: Recording,
  parameters: Parameters,
  stage: Stage,
): Promise<number> {
  let recorded = 0
  let companies = 0
  for (const difference of findDifferences(db, resource, recording.resource, parameters)) {
    for (const row of recording.record(difference)) {
      stage.write(recordedPlace, { ...row, companyId: difference.companyId })
      recorded += 1
    }
    companies += 1
    // A turn of the event loop now and then, so that a signal is seen.
    if (companies % 1_000 === 0) await nextTurn()
  }
  stage.flush()
  return recorded
}

// A record that the store makes itself has no place in a file.
const recordedPlace: Place = { file: 0, number: 0 }

function* findDifferences(
  db: DatabaseSync,
  resource: Resource | undefined,
  history: Resource,
  parameters: Parameters,
): Generator<Difference> {
  if (resource) {
    const sighted = db.prepare(findSighted(resource.name, history.name))
    sighted.setAllowUnknownNamedParameters(true)
    sighted.run(parameters)
  }
  const rows = db.prepare(resource ? listingDifferences(resource.name) : companyDifferences)
  rows.setAllowUnknownNamedParameters(true)
  const differences = collectDifferences()
  for (const row of rows.iterate(parameters)) {
    const difference = differences.add(row as unknown as DifferenceRow)
    if (difference) yield difference
  }
  const last = differences.end()
  if (last) yield last
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
  return [...used.map((name) => `drop table if exists temp.${name}`), ...appendRecords(history)]
}

const listingDifferences = (name: string) => `
  select k.id, k.jurisdiction, k.identifier, $asOf as as_of, 1 as was_present, 1 as is_present,
    d.text, d.is_before, d.is_after
  from (
    select r.company_id, r.id, r.record as text, 1 as is_before, g.position is null as is_after
      from sighted t
      join ${name} r on r.company_id = t.company_id and r.source_id = $source
      left join ${gone} g on g.company_id = r.company_id and g.position = r.position
    union all
    select c.company_id, c.id, ${recordText}, 0, 1
      from sighted t
      join change c on c.company_id = t.company_id
      join stage s on s.seq = c.seq
  ) d
  join companies k on k.id = d.company_id
  order by d.company_id, d.id`
