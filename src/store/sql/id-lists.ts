// Lists of ids that are read in portions.

/** Ids in ascending order, in portions. */
export type Ids = AsyncIterable<readonly number[]> | Iterable<readonly number[]>

/** The ids that are in both. */
export async function* intersect(one: Ids, other: Ids): AsyncGenerator<readonly number[]> {
  const others = await createCursor(other)
  for await (const ids of one) {
    const both: number[] = []
    for (const id of ids) {
      while (others.id() < id) if (others.advance()) await others.read()
      if (others.id() === id) both.push(id)
    }
    yield both
    if (others.id() === Infinity) return
  }
}

/** The ids that are in either. */
export async function* unite(one: Ids, other: Ids): AsyncGenerator<readonly number[]> {
  const others = await createCursor(other)
  for await (const ids of one) {
    const both: number[] = []
    for (const id of ids) {
      while (others.id() <= id) {
        if (others.id() !== id) both.push(others.id())
        if (others.advance()) await others.read()
      }
      both.push(id)
    }
    yield both
  }
  yield* others.rest()
}

/** Reads ids one after another. */
async function createCursor(ids: Ids) {
  const iterator: Iterator<readonly number[]> | AsyncIterator<readonly number[]> =
    Symbol.asyncIterator in ids ? ids[Symbol.asyncIterator]() : ids[Symbol.iterator]()
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
    /** The portions from the id on. */
    async *rest(): AsyncGenerator<readonly number[]> {
      if (portion !== undefined) yield portion.slice(at)
      for (await read(); portion !== undefined; await read()) yield portion
    },
  }
}
