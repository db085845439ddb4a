// The ids that a store assigns, in either database.

/** Assigned ids begin here, clear of the ids that sources use. */
export const assignedIdMin = 1_000_000_000_001
/** Source ids from here on (2^52) are ignored when assigning, as too few ids would follow them. */
export const assignedIdEnd = 4_503_599_627_370_496
