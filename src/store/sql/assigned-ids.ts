// The ids that a store assigns, in either database.

import type { StagedRow } from '../importing.ts'

/** Assigned ids begin here, clear of the ids that sources use. */
export const assignedIdMin = 1_000_000_000_001
/** Source ids from here on (2^52) are ignored when assigning, as too few ids would follow them. */
export const assignedIdEnd = 4_503_599_627_370_496

/** The greatest ids in an import's rows; the ids that it assigns are greater. */
export interface StagedIds {
  id: number
  companyId: number
  /** Whether each row's id is greater than that of the row before, as in most extracts. */
  isAscending: boolean
  lastId: number
}

export const noIds = (): StagedIds => ({ id: 0, companyId: 0, isAscending: true, lastId: 0 })

/** Updates the greatest ids with those of a row that is being staged. */
export function noteIds(staged: StagedIds, { id, companyId }: StagedRow): void {
  staged.isAscending &&= id !== null && id > staged.lastId
  staged.lastId = id ?? 0
  staged.id = greaterId(staged.id, id)
  staged.companyId = greaterId(staged.companyId, companyId)
}

function greaterId(greatest: number, id: number | null): number {
  return id !== null && id > greatest && id < assignedIdEnd ? id : greatest
}
