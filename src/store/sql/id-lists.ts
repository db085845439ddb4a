// Lists of ids that are read in portions.

/** Ids in ascending order, in portions. */
export type Ids = AsyncIterable<readonly number[]> | Iterable<readonly number[]>

/** The ids of a list that are in any of the others. */
export async function* intersect(
  ids: Ids,
  others: readonly Ids[],
): AsyncGenerator<readonly number[]> {
  const lists = others.map(createSideBySide)
  for await (const some of ids) {
    const isInAny = new Uint8Array(some.length)
    for (const list of lists) await list.mark(some, isInAny)
    yield some.filter((_, n) => isInAny[n] === 1)
    if (lists.every((list) => list.isAtEnd())) return
  }
}

/** Reads a list of ids as far as another list, which is read beside it. */
function createSideBySide(ids: Ids) {
  const portions = (async function* () {
    yield* ids
  })()
  let portion: readonly number[] | undefined = []
  let at = 0
  return {
    isAtEnd: () => portion === undefined,
    /** Marks the next ids of the other list that are in this one. */
    async mark(others: readonly number[], marks: Uint8Array): Promise<void> {
      for (let n = 0; n < others.length && portion !== undefined;) {
        const other = others[n] ?? 0
        const id: number | undefined = portion[at]
        if (id === undefined) {
          const next = await portions.next()
          portion = next.done === true ? undefined : next.value
          at = 0
        } else if (id < other) at += 1
        else {
          if (id === other) marks[n] = 1
          n += 1
        }
      }
    },
  }
}
