// The executable: the only code that reads the process's environment or ends it (invariant 5).

import { flushCompileCache } from 'node:module'
import { constants, setPriority } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { runCommandLine } from './cli/command-line.ts'
import { createOutput } from './cli/output.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stop.abort(signal)
    // A second signal ends the process at once.
    process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143))
  })
}
// bin/dossier disables Node's debugger; without a handler, its signal would end the process.
process.on('SIGUSR1', () => undefined)
// Each write handles its own error; without a listener, the event would end the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

// Keeps the heap small. V8 takes no code that was compiled with other flags, not even Node's own:
// this waits until the modules are loaded (bench/runtime-flags.md).
setTimeout(() => {
  flushCompileCache()
  setFlagsFromString('--heap-growing-percent=50')
}, 1_000).unref()

function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_LOW)
  } catch {
    // Some sandboxes deny it (`SystemCallFilter=~@resources` of systemd), and it is a courtesy.
  }
}

const stderr = createOutput(process.stderr)
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  stdout: createOutput(process.stdout, stderr),
  stderr,
  signal: stop.signal,
  now: Date.now,
  lowerPriority,
})

// An interrupted command has ended, but the process would still wait for a library's thread that
// ignores the interruption.
const signal = stop.signal.reason as NodeJS.Signals | undefined
if (signal !== undefined && process.exitCode > 128) {
  setTimeout(() => {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  }, 500).unref()
}
