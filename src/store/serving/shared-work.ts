// Work that several clients may wait for: done once for all of them, and cancelled when the last of
// them has left.

/** Work under way. */
interface Shared<T> {
  readonly result: Promise<T>
  readonly dropping: AbortController
  /** How many clients wait for it. */
  waiting: number
}

export function createSharedWork<T>() {
  const underWay = new Map<string, Shared<T>>()

  function begin(key: string, work: (dropped: AbortSignal) => Promise<T>): Shared<T> {
    const dropping = new AbortController()
    const result = work(dropping.signal).finally(() => {
      if (underWay.get(key) === begun) underWay.delete(key)
    })
    const begun = { result, dropping, waiting: 0 }
    underWay.set(key, begun)
    return begun
  }

  function wait(key: string, shared: Shared<T>, left: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(left.reason as Error)
        shared.waiting -= 1
        if (shared.waiting > 0) return
        // Later requests must not share work that is being cancelled.
        underWay.delete(key)
        shared.dropping.abort(left.reason)
      }
      const done = () => left.removeEventListener('abort', leave)
      shared.result.finally(done).then(resolve, reject)
      if (left.aborted) leave()
      else left.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    /**
     * Does the work of a key; requests for it meanwhile share the result.
     *
     * @param work its signal is aborted when no client waits for it any longer.
     * @param left is aborted when this client has left; the promise rejects with its reason.
     */
    run(key: string, work: (dropped: AbortSignal) => Promise<T>, left?: AbortSignal): Promise<T> {
      const shared = underWay.get(key) ?? begin(key, work)
      shared.waiting += 1
      return left === undefined ? shared.result : wait(key, shared, left)
    },
    /** Whether the work of a key is under way. */
    has: (key: string) => underWay.has(key),
    /** How many pieces of work are under way. */
    count: () => underWay.size,
  }
}
