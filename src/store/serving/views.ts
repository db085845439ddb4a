// Caches views: each is made once for a selection, and sliced for every page of it.
//
// A view belongs to one state of a listing, which its key names. Views are cached within a number
// of bytes and for some minutes. The last view that alone exceeds the number of bytes is cached as
// well: making it again for each page would scan the whole listing each time.

import { LRUCache } from 'lru-cache'
import { fixedKey } from '../caching.ts'
import type { ScanTurns } from '../reading.ts'
import { bytesOf, type View } from '../listing/view.ts'
import { createSharedWork } from './shared-work.ts'

export type Views = ReturnType<typeof createViews>

/** What is cached and under way, for the metrics. */
export interface ViewCounts {
  readonly bytes: number
  readonly underWay: number
}

/** The bytes of views that a reader caches by default: those of 8 million records. */
const viewBytesUsual = 64 * 1_048_576
/** How long a view is cached, in milliseconds. */
const ageMaxMs = 600_000
/** The memory of a view besides its numbers, its key included, in bytes: a thousand, measured. */
const overheadBytes = 1_024

/**
 * @param bytesMax bounds the cached views, except for one that is larger.
 * @param clock returns milliseconds.
 */
export function createViews(bytesMax = viewBytesUsual, clock = () => performance.now()) {
  const time = { ttl: ageMaxMs, perf: { now: clock }, ttlResolution: 0 }
  const sized = { sizeCalculation: sizeOf, ...time }
  const small = new LRUCache<string, View>({ maxSize: bytesMax, ...sized })
  const most = { max: 1, maxSize: Number.MAX_SAFE_INTEGER }
  const large = new LRUCache<string, View>({ ...most, ...sized })
  const making = createSharedWork<View>()
  const waiting = createSharedWork<View>()

  async function start(key: string, make: () => Promise<View>): Promise<View> {
    const view = await make()
    const cache = sizeOf(view) > bytesMax ? large : small
    cache.set(fixedKey(key), view)
    return view
  }

  const get = (key: string) => small.get(fixedKey(key)) ?? large.get(fixedKey(key))

  return {
    /** The cached view of a key. */
    get,
    /**
     * Makes a view and caches it; requests for it meanwhile share it.
     *
     * @param turns schedules the making of views among the clients that ask for them.
     * @param isLong whether it takes more than some milliseconds.
     * @throws as `turns`.
     */
    make(key: string, make: () => Promise<View>, turns?: ScanTurns, isLong = false): Promise<View> {
      const makeNow = () => making.run(key, () => start(key, make))
      if (turns === undefined) return makeNow()
      if (making.has(key)) return making.run(key, () => start(key, make), turns.left)
      // Another client's request may make it meanwhile.
      const inTurn = async (dropped: AbortSignal) => {
        const end = await turns.begin(dropped, isLong)
        try {
          return get(key) ?? (await makeNow())
        } finally {
          end()
        }
      }
      return waiting.run(`${turns.asker} ${key}`, inTurn, turns.left)
    },
    counts(): ViewCounts {
      for (const cache of [small, large]) cache.purgeStale()
      return { bytes: small.calculatedSize + large.calculatedSize, underWay: making.count() }
    },
  }
}

function sizeOf(view: View): number {
  return bytesOf(view) + overheadBytes
}
