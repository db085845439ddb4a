// Lists of ids that are read in portions.

/** Ids in ascending order, in portions. */
export type Ids = AsyncIterable<readonly number[]> | Iterable<readonly number[]>

/** The ids of a list that are in any of the others. */
export async function* intersect(
  ids: Ids,
  others: readonly Ids[],
): AsyncGenerator<readonly number[]> {
  const cursors = await Promise.all(others.map(createCursor))
  for await (const some of ids) {
    const both: number[] = []
    for (const id of some) {
      let isInAny = false
      for (const other of cursors) {
        while (other.id() < id) if (other.advance()) await other.read()
        if (other.id() === id) isInAny = true
      }
      if (isInAny) both.push(id)
    }
    yield both
    if (cursors.every((other) => other.id() === Infinity)) return
  }
}

/** Reads ids one after another. */
async function createCursor(ids: Ids) {
  const iterator = (async function* () {
    yield* ids
  })()
  let portion: readonly number[] | undefined
  let at = 0

  /** Reads the next portion that is not empty. */
  async function read(): Promise<void> {
    at = 0
    for (;;) {
      const step = await iterator.next()
      portion = step.done === true ? undefined : step.value
      if (portion?.length !== 0) return
    }
  }

  await read()
  return {
    /** The current id; Infinity after the last one. */
    id: () => portion?.[at] ?? Infinity,
    /** Moves to the next id; true if a portion has to be read first. */
    advance(): boolean {
      at += 1
      return at === portion?.length
    },
    read,
  }
}
