// What the parts of an import share.

import type { ImportPlan } from '../importing.ts'
import type { ListingShape } from '../listing/shape.ts'
import type { ListingTables, NamingSource } from '../listing/tables.ts'
import type { RegistryDatabase } from '../registry-connection.ts'
import type { Staging, StagedValues } from './staging.ts'

export interface ImportContext {
  readonly plan: ImportPlan
  readonly shape: ListingShape
  readonly staging: Staging
  readonly db: RegistryDatabase
  readonly tables: ListingTables
  /** The number of the import's source, and all of them. */
  readonly source: number
  readonly sources: ReadonlyMap<number, NamingSource>
  readonly hasOtherSources: boolean
  readonly version: number
  /** How many rows had something that is withheld. */
  readonly withheld: number
  /** The day of the extract, in wire form. */
  readonly asOf: string | null
  /** What statements on the staged rows take. */
  readonly values: StagedValues
}
