// Which ids a store assigns, whichever database is behind it.

import type { StagedRow } from '../importing.ts'

/** Ids that the store assigns begin here, out of the way of those that sources bring. */
export const assignedIdMin = 1_000_000_000_001
/** Ids of sources from here on (2^52) are not followed: behind them there is too little room. */
export const assignedIdEnd = 4_503_599_627_370_496

/** The greatest ids that come with an import; those that it assigns follow them. */
export interface StagedIds {
  id: number
  companyId: number
}

/** Notes the ids of a row that is being staged. */
export function noteIds(staged: StagedIds, { id, companyId }: StagedRow): void {
  staged.id = greaterId(staged.id, id)
  staged.companyId = greaterId(staged.companyId, companyId)
}

function greaterId(greatest: number, id: number | null): number {
  return id !== null && id > greatest && id < assignedIdEnd ? id : greatest
}
