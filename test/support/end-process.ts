// Ends the process of a test file: what a failed test has left open would keep it running.
// `npm test` loads this before each file.
//
// Not `--test-force-exit`: it also ends the runner, with code 0, before that has reported the files
// that ended last.

import { after } from 'node:test'
import { isMainThread } from 'node:worker_threads'

/** How long hooks may take to close what tests have opened. */
const patienceMs = 60_000

// The runner loads this, too, but is no test itself.
if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    setTimeout(() => process.exit(), patienceMs).unref()
  })
}
