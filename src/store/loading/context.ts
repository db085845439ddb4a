// What the parts of an import share.

import type { ImportPlan } from '../importing.ts'
import { attributesShape, type ListingShape, shapeOf } from '../listing/shape.ts'
import type { NamingSource } from '../listing/tables.ts'
import { type MergeContext, numberSegments } from '../listing/write-listings.ts'
import type { ImportConnection, RegistryDatabase } from '../sql/database.ts'
import { nextVersion, readEarlier, sourceId } from '../sql/import-log.ts'
import type { Gate } from '../withholding/gate.ts'
import { type MergePart, type OnShare, watchParts } from '../work-watch.ts'
import type { Staging } from './staging/staging.ts'

export interface ImportContext extends MergeContext {
  readonly plan: ImportPlan
  readonly shape: ListingShape
  readonly staging: Staging
  readonly db: RegistryDatabase
  /** The number of the import's source, and all sources. */
  readonly source: number
  readonly sources: ReadonlyMap<number, NamingSource>
  /** Whether nothing of its target was ever loaded. */
  readonly isFirst: boolean
  /** The imports in force of its target and source, since the last removal of all these had. */
  readonly inForce: ReadonlySet<number>
  /** Holds back what is withheld. */
  readonly gate: Gate
  /** The day of the extract, in wire form. */
  readonly asOf: string | null
  /** Returns the listener of the progress of a part. */
  readonly parts: (part: MergePart) => OnShare
}

/** Reads what the parts share, while the import holds the write lock. */
export async function createContext(
  db: ImportConnection,
  plan: ImportPlan,
  staging: Staging,
  gate: Gate,
): Promise<ImportContext> {
  const { tables } = db
  const { target } = plan
  const source = await sourceId(db, plan.source)
  const asOf = plan.asOf ?? staging.facts.lastDay
  const earlier = await readEarlier(db, { source, target: target.name })
  const versions = earlier.imports.map((one) => one.version)
  plan.onEarlier?.(earlier, asOf)
  return {
    plan,
    staging,
    db,
    tables,
    source,
    gate,
    asOf,
    version: await nextVersion(db),
    numbers: await numberSegments(tables),
    sources: await tables.sources(),
    inForce: new Set(versions.filter((one) => one > earlier.removedIn)),
    isFirst: !(await tables.hasHeads(target.name)),
    shape: target.resource === undefined ? attributesShape : shapeOf(target.resource),
    parts: watchParts(target.resource === undefined, plan),
  }
}
