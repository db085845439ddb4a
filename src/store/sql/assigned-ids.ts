// The ids that a store assigns, in either database.

import type { Awaitable } from '../awaitable.ts'

/** Assigned ids begin here, clear of the ids that sources use. */
export const assignedIdMin = 1_000_000_000_001
/** Source ids from here on (2^52) are ignored when assigning, as too few ids would follow them. */
export const assignedIdEnd = 4_503_599_627_370_496

/**
 * The id after which a number of ids are assigned.
 *
 * @param findLast finds the last known id below a bound.
 */
export async function lastBeforeAssigned(
  count: number,
  findLast: (below: number) => Awaitable<number>,
): Promise<number> {
  const last = await findLast(assignedIdEnd)
  // From the end on, there may be ids of sources, and ids that were assigned before.
  return last + count < assignedIdEnd ? last : findLast(2 ** 53)
}
