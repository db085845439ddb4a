// Compares what companies have on two sides, each of which is too long to be kept: sums of some
// companies each tell where the sides may differ, and only those are looked at one by one.

const sumsLength = 65_536

/** What companies have on a side: calls `look` for each item. */
export type Side = (look: (companyId: number, item: string) => void) => Promise<void>

export type Sums = ReturnType<typeof createSums>

export function createSums() {
  const sums = new Float64Array(sumsLength)
  return {
    /**
     * Adds an item of one side, or takes away one of the other: a number of up to 31 bits that
     * depends on it. Sums of some million stay exact.
     */
    add(companyId: number, item: number, sign: 1 | -1): void {
      const at = companyId % sumsLength
      sums[at] = (sums[at] ?? 0) + sign * (item + 1)
    },
    /** Whether a company may differ, by so many of the sums; undefined if none of them differs. */
    differing(most = Infinity): ((companyId: number) => boolean) | undefined {
      const some = new Set<number>()
      for (let n = 0; n < sumsLength && some.size < most; n++) if (sums[n] !== 0) some.add(n)
      return some.size === 0 ? undefined : (companyId) => some.has(companyId % sumsLength)
    },
  }
}

/** The companies that have something on one side only, in ascending order. */
export async function findDiffering(one: Side, other: Side): Promise<number[]> {
  const left = new Map<number, Set<string>>()
  await one((companyId, item) => {
    const own = left.get(companyId)
    if (own === undefined) left.set(companyId, new Set([item]))
    else own.add(item)
  })
  const found = new Set<number>()
  await other((companyId, item) => {
    if (left.get(companyId)?.delete(item) !== true) found.add(companyId)
  })
  for (const [companyId, items] of left) if (items.size > 0) found.add(companyId)
  return [...found].sort((a, b) => a - b)
}
