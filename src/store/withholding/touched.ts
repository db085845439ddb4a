// What a withholding has touched, as columns: as objects, the records of a company that has a
// million would take three times the memory.

/** A record, or what a source says, that was rewritten or removed. */
export interface Touched {
  readonly listing: string
  readonly companyId: number
  readonly id: number
  readonly sort: number
  /** Whether the listing has it now. */
  readonly isPresent: boolean
  readonly isGone: boolean
  /** How many different texts of it were changed. */
  readonly states: number
}

/** All that was touched; it can be read more than once. */
export interface AllTouched {
  readonly length: number
  values(): IteratorObject<Touched>
}

export type TouchedColumns = ReturnType<typeof createTouched>

export function createTouched() {
  const listings: string[] = []
  const companies: number[] = []
  const ids: number[] = []
  const sorts: number[] = []
  /** Twice a bit, below the number of states. */
  const states: number[] = []
  const at = (place: number): Touched => {
    const bits = states[place] ?? 0
    return {
      listing: listings[place] ?? '',
      companyId: companies[place] ?? 0,
      id: ids[place] ?? 0,
      sort: sorts[place] ?? 0,
      isPresent: (bits & 1) > 0,
      isGone: (bits & 2) > 0,
      states: bits >> 2,
    }
  }
  function* values(from = 0) {
    for (let place = from; place < ids.length; place += 1) yield at(place)
  }
  return {
    get length() {
      return ids.length
    },
    at,
    /** Adds one at the end, or replaces the one at a place. */
    put(place: number, one: Touched): void {
      listings[place] = one.listing
      companies[place] = one.companyId
      ids[place] = one.id
      sorts[place] = one.sort
      states[place] = (one.states << 2) | (one.isGone ? 2 : 0) | (one.isPresent ? 1 : 0)
    },
    values,
  }
}

/** The companies of what was touched. */
export const companiesTouched = (touched: AllTouched): Set<number> =>
  new Set(touched.values().map(({ companyId }) => companyId))
