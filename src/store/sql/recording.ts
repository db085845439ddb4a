// What an import changes, recorded as records of another resource: found before the merge writes
// over it, appended after it, in the same transaction.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Difference, Recording, StagedRow } from '../importing.ts'
import type { LoadTarget } from '../load-target.ts'
import type { Row, Values } from './database.ts'
import { collectDifferences } from './differences.ts'
import type { ImportConnection } from './import.ts'

/**
 * Stages the records that tell what the merge is about to change, behind all other rows, and gives
 * how many they are.
 *
 * To be called after the merge has found its changes and before it applies them.
 */
export async function stageDifferences(
  db: ImportConnection,
  target: LoadTarget,
  recording: Recording,
  values: Values,
): Promise<number> {
  const { prepare, query } = target.differences(db.dialect, recording.resource)
  for (const step of prepare) await db.step(step, values)
  const differences = collectDifferences()
  let recorded = 0

  async function stage(found: readonly Difference[]): Promise<void> {
    const rows = found.flatMap((difference) =>
      recording
        .record(difference)
        .map((row): StagedRow => ({ ...row, companyId: difference.companyId })),
    )
    await db.stage.append(rows)
    recorded += rows.length
  }

  for await (const rows of db.batches(query, values)) {
    await stage(rows.map((row: Row) => differences.add(row)).filter((one) => one !== undefined))
    // So that a signal is seen.
    await nextTurn()
  }
  const last = differences.end()
  if (last) await stage([last])
  return recorded
}
