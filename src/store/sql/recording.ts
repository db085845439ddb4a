// Records an import's changes as records of another resource: found before the merge overwrites the
// old state, appended after it, in the same transaction.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Difference, Recording, ListingState } from '../importing.ts'
import type { LoadTarget } from '../load-target.ts'
import type { Database, Row, Values } from './database.ts'
import type { ImportConnection } from './import.ts'

/**
 * Stages the records of the changes that the merge will make, after all other rows, and returns
 * their number.
 *
 * Call it after the merge has found its changes and before it applies them.
 */
export async function stageDifferences(
  db: ImportConnection,
  target: LoadTarget,
  recording: Recording,
  values: Values,
): Promise<number> {
  const { prepare, query } = target.differences(db.dialect, recording.resource)
  for (const step of prepare) await db.step(step, values)
  let recorded = 0
  for await (const differences of findDifferences(db, query, values)) {
    const rows = differences.flatMap((difference) =>
      recording.record(difference).map((row) => ({ ...row, companyId: difference.companyId })),
    )
    await db.stage.append(rows)
    recorded += rows.length
    // Lets signals be handled.
    await nextTurn()
  }
  return recorded
}

/** A difference whose texts are still being collected. */
interface OpenDifference extends Difference {
  readonly before: OpenState
  readonly after: OpenState
}

interface OpenState extends ListingState {
  readonly texts: string[]
}

/** Combines the rows of `LoadTarget.differences` into one difference per company. */
async function* findDifferences(
  db: Database,
  query: string,
  values: Values,
): AsyncIterable<readonly Difference[]> {
  let open: OpenDifference | undefined
  for await (const rows of db.batches(query, values)) {
    const complete: Difference[] = []
    for (const row of rows) {
      if (open === undefined || open.companyId !== row['id']) {
        if (open !== undefined) complete.push(open)
        open = openDifference(row)
      }
      if (row['is_before']) open.before.texts.push(String(row['text']))
      if (row['is_after']) open.after.texts.push(String(row['text']))
    }
    yield complete
  }
  if (open !== undefined) yield [open]
}

function openDifference(row: Row): OpenDifference {
  return {
    companyId: Number(row['id']),
    companyJurisdiction: row['jurisdiction'] as string | null,
    companyIdentifier: row['identifier'] as string | null,
    asOf: String(row['as_of']),
    before: { isPresent: Boolean(row['was_present']), texts: [] },
    after: { isPresent: Boolean(row['is_present']), texts: [] },
  }
}
