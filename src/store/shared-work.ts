// Work that several clients may wait for: done once for all of them, and not too much at a time.

export interface SharedWork<T> {
  /**
   * Does the work of a key; those who ask for it meanwhile get the same result.
   *
   * @throws Error if too much work is under way.
   */
  run(key: string, work: () => Promise<T>): Promise<T>
  /** How much is under way. */
  count(): number
}

/** How much may be under way: with each of them a client waits. */
const underWayMax = 64

/** @param tooMany the message where there is too much. */
export function createSharedWork<T>(tooMany: string): SharedWork<T> {
  const underWay = new Map<string, Promise<T>>()
  return {
    run(key, work) {
      const already = underWay.get(key)
      if (already !== undefined) return already
      if (underWay.size >= underWayMax) return Promise.reject(new Error(tooMany))
      const begun = work().finally(() => underWay.delete(key))
      underWay.set(key, begun)
      return begun
    },
    count: () => underWay.size,
  }
}
