// Keeps views: made once for a selection, and sliced for every page of it.
//
// A view is of one state of a listing, which its key names. Views are kept within a number of bytes
// and for some minutes; how many are made at a time is bounded, too. A view that alone is larger
// takes the place of the last such view: made anew for each page, it would cost the length of its
// listing each time.

import { LRUCache } from 'lru-cache'
import { fixedKey } from '../fixed-key.ts'
import type { ScanTurns } from '../reading.ts'
import { bytesOf, type View } from '../listing/view.ts'
import { createSharedWork } from './shared-work.ts'

/** What is kept and under way, for the metrics. */
export interface ViewCounts {
  readonly kept: number
  readonly bytes: number
  /** The age of the oldest view kept, in milliseconds; 0 if there is none. */
  readonly oldestMs: number
  readonly underWay: number
  /** Since the start. */
  readonly made: number
}

export interface Views {
  /** The view under a key. */
  get(key: string): View | undefined
  /**
   * Makes a view and keeps it; those who ask for it meanwhile get the same one.
   *
   * @param turns whose turn has to come first, of those who ask for large views.
   * @throws Busy if too many are being made; else as `turns`.
   */
  make(key: string, make: () => Promise<View>, turns?: ScanTurns): Promise<View>
  counts(): ViewCounts
}

/** The bytes of views that a reader keeps, if nothing else is said: those of 8 million records. */
const viewBytesUsual = 64 * 1_048_576
/** How long a view is kept, in milliseconds. */
const ageMaxMs = 600_000
/** The memory of a view besides its numbers, its key included, in bytes: a thousand, measured. */
const overheadBytes = 1_024

/**
 * @param bytesMax bounds the views that are kept, besides one that is larger; 0 keeps none.
 * @param clock returns milliseconds.
 */
export function createViews(bytesMax = viewBytesUsual, clock = () => performance.now()): Views {
  const time = { ttl: ageMaxMs, perf: { now: clock }, ttlResolution: 0 }
  const sized = { sizeCalculation: sizeOf, ...time }
  const small = new LRUCache<string, View>({ maxSize: Math.max(1, bytesMax), ...sized })
  const most = { max: 1, maxSize: Number.MAX_SAFE_INTEGER }
  const large = new LRUCache<string, View>({ ...most, ...sized })
  const caches = [small, large]
  const making = createSharedWork<View>('too many filtered listings are being prepared')
  const waiting = createSharedWork<View>('too many filtered listings are waited for')
  let made = 0

  async function start(key: string, make: () => Promise<View>): Promise<View> {
    const view = await make()
    made += 1
    const isLarge = bytesMax > 0 && sizeOf(view) > bytesMax
    const cache = isLarge ? large : small
    cache.set(fixedKey(key), view)
    return view
  }

  const get = (key: string) => small.get(fixedKey(key)) ?? large.get(fixedKey(key))

  return {
    get,
    make(key, make, turns) {
      const makeNow = () => making.run(key, () => start(key, make))
      if (turns === undefined) return makeNow()
      if (making.has(key)) return making.run(key, () => start(key, make), turns.left)
      // Another asker may make it meanwhile.
      const inTurn = async (dropped: AbortSignal) => {
        const end = await turns.begin(dropped)
        try {
          return get(key) ?? (await makeNow())
        } finally {
          end()
        }
      }
      return waiting.run(`${turns.asker} ${key}`, inTurn, turns.left)
    },
    counts() {
      for (const cache of caches) cache.purgeStale()
      return {
        kept: small.size + large.size,
        bytes: small.calculatedSize + large.calculatedSize,
        oldestMs: oldest(),
        underWay: making.count(),
        made,
      }
    },
  }

  function oldest(): number {
    let left = ageMaxMs
    for (const cache of caches) {
      for (const key of cache.keys()) left = Math.min(left, cache.getRemainingTTL(key))
    }
    return ageMaxMs - left
  }
}

function sizeOf(view: View): number {
  return bytesOf(view) + overheadBytes
}
