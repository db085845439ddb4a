// Takes back what versions have changed in what their source says about companies, and with it the
// names of companies.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { readAttributes, statementOf, valuesOf, writeAttributes } from '../companies/attributes.ts'
import { createNameKeeper } from '../companies/keep-names.ts'
import type { ListedRecord } from '../listing/segment.ts'
import { attributesShape } from '../listing/shape.ts'
import type { MergeContext } from '../listing/write-listings.ts'
import type { RegistryDatabase } from '../sql/database.ts'
import { changedCompanies, type Changes, type TakenBack } from './revert-records.ts'

/** Takes back what versions have changed in what a source says. */
export async function revertAttributes(
  db: RegistryDatabase,
  context: MergeContext,
  { source, first, onRestored, onShare }: TakenBack,
): Promise<Changes> {
  const { tables, version } = context
  const changes: Changes = { restored: 0, updated: 0, removed: 0 }
  const names = await createNameKeeper(db)
  const { listing } = attributesShape
  for await (const { companies, share } of changedCompanies(db, listing, first)) {
    const present = await readAttributes(tables, companies)
    const former = await readAttributes(tables, companies, first - 1)
    const written = new Map<number, readonly ListedRecord[]>()
    const restored: number[] = []
    for (const [company, records] of present) {
      const own = records.find((one) => one.source === source)
      const before = former.get(company)?.find((one) => one.source === source)
      if (!hasChanged(own, first) && (own !== undefined || before === undefined)) continue
      note(changes, own, before)
      if (before !== undefined) restored.push(company)
      const back = before === undefined ? [] : [inVersion(before, version)]
      const now = [...records.filter((one) => one !== own), ...back].sort((a, b) => a.id - b.id)
      written.set(company, now)
      await names.change(company, records, now)
    }
    await writeAttributes(context, written)
    await onRestored(restored)
    onShare(share)
    await nextTurn()
  }
  await names.finish()
  return changes
}

/** Whether one of the reverted versions has said it. */
function hasChanged(own: ListedRecord | undefined, first: number): boolean {
  return own !== undefined && statementOf(own).version >= first
}

function inVersion(record: ListedRecord, version: number): ListedRecord {
  return { ...record, values: valuesOf({ ...statementOf(record), version }) }
}

/** Counts companies that a source has or had, as its imports do. */
function note(
  changes: Changes,
  own: ListedRecord | undefined,
  before: ListedRecord | undefined,
): void {
  const isPresent = own !== undefined && statementOf(own).isPresent
  const wasPresent = before !== undefined && statementOf(before).isPresent
  if (wasPresent) changes[isPresent ? 'updated' : 'restored'] += 1
  else if (isPresent) changes.removed += 1
}
