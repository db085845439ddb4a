// What a process keeps in memory, for tests of what is bounded.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The bytes that are still reachable. */
export function bytesInUse(): number {
  // What a collection has made unreachable outside of the heap goes with the next one.
  collectGarbage()
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
