// The ids that a store assigns, in either database.

import { OperatorError } from '../../config/operator-error.ts'
import type { Awaitable } from '../awaitable.ts'

/** Assigned ids begin here, clear of the ids that sources use. */
export const assignedIdMin = 1_000_000_000_001
/** Source ids from here on (2^52) are ignored when assigning, as too few ids would follow them. */
export const assignedIdEnd = 4_503_599_627_370_496

/** How many ids are needed: at most, and exactly, which takes longer to find out. */
export interface NeededIds {
  readonly most: number
  readonly count: () => number
}

/**
 * The id after which ids are assigned.
 *
 * @param findLast finds the last known id below a bound.
 * @throws OperatorError if too few ids up to 2^53-1 are left.
 */
export async function lastBeforeAssigned(
  { most, count }: NeededIds,
  findLast: (below: number) => Awaitable<number>,
): Promise<number> {
  const last = await findLast(assignedIdEnd)
  if (last + most < assignedIdEnd) return last
  // From the end on, there may be ids of sources, and ids that were assigned before.
  const greatest = await findLast(2 ** 53)
  const left = Number.MAX_SAFE_INTEGER - greatest
  if (left < most && left < count()) {
    throw new OperatorError(
      `no ids are left to assign, since the id ${greatest} is in use; give ids in the file`,
    )
  }
  return greatest
}
