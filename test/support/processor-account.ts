// Writes down what a test file took: `npm test -- --dearest` loads it before each.
//
// A line of DOSSIER_TEST_ACCOUNT has the file, and seconds: of processor time of its own process
// and of the processes that it started and waited for, and of the clock.

import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { isMainThread } from 'node:worker_threads'

const account = process.env['DOSSIER_TEST_ACCOUNT']
const file = process.argv[1] ?? ''
const ticksPerSecond = 100

if (account !== undefined && isMainThread && file.endsWith('.test.ts')) {
  process.on('exit', () => {
    const own = process.cpuUsage()
    const times = [(own.user + own.system) / 1e6, childSeconds(), performance.now() / 1_000]
    appendFileSync(account, `${[relative(process.cwd(), file), ...times].join('\t')}\n`)
  })
}

/** Node.js does not tell it; 0 except on Linux. */
function childSeconds(): number {
  if (process.platform !== 'linux') return 0
  const status = readFileSync('/proc/self/stat', 'utf8')
  // The second field, the program's name in brackets, may contain blanks.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[13], fields[14]].map(Number)
  return ((user ?? 0) + (system ?? 0)) / ticksPerSecond
}
