// Forces garbage collection when large buffers are known to be unused.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | undefined

/**
 * Collects all garbage now, including memory outside V8's heap: DuckDB's chunks take megabytes
 * there that V8 does not count, so it would keep a dozen of them.
 */
export async function collectGarbage(): Promise<void> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  await new Promise((done) => setImmediate(done))
}
