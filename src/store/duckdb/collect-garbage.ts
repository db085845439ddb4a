// Collecting garbage when it is known to be much.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Collects all garbage now, and lets go of what its objects held outside of V8's heap: chunks of
 * DuckDB are megabytes there, and nothing to V8, which would keep a dozen of them.
 */
export async function collectGarbage(): Promise<void> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  await new Promise((done) => setImmediate(done))
}
