// The command line in this process: `dossier` without the third of a second that a
// separate process takes to start, for tests that do not depend on the process.

import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { createOutput } from '../../src/cli/output.ts'
import { type Run, type RunOptions, storeOf, type Words, wordsOf } from './run-dossier.ts'

type Stream = Parameters<typeof createOutput>[0]

// One at a time: a process has only one working directory.
let turn: Promise<unknown> = Promise.resolve()

/**
 * Runs `dossier` in a folder to its end; its output goes to files.
 *
 * @param args are those of a command that neither serves nor reads standard input.
 */
export function runCommand(
  cwd: string,
  args: Words,
  options: Pick<RunOptions, 'env'> = {},
): Promise<Run> {
  const run = turn.then(() => runNow(cwd, args, options))
  turn = run.catch(() => undefined)
  return run
}

/** As `runCommand`, of a command that succeeds. */
export async function mustRun(
  cwd: string,
  args: Words,
  options?: Pick<RunOptions, 'env'>,
): Promise<Run> {
  const run = await runCommand(cwd, args, options)
  assert.equal(run.code, 0, run.out + run.err)
  return run
}

async function runNow(cwd: string, args: Words, { env }: Pick<RunOptions, 'env'>): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'dossier-run-'))
  const [out, err] = [openFile(join(folder, 'out')), openFile(join(folder, 'err'))]
  const before = process.cwd()
  process.chdir(cwd)
  // A clock that stands: on a busy machine, any work would take long enough to show its progress.
  const startedAt = Date.now()
  try {
    const code = await runCommandLine(wordsOf(args), {
      environment: { ...process.env, ...storeOf(cwd), ...env },
      stdout: createOutput(out.stream),
      stderr: createOutput(err.stream),
      signal: new AbortController().signal,
      now: () => startedAt,
      // That of the tests stays as it is: they would be the last on the machine from then on.
      lowerPriority: () => undefined,
    })
    return { code, out: out.text(), err: err.text() }
  } finally {
    process.chdir(before)
    for (const { close } of [out, err]) close()
    rmSync(folder, { recursive: true })
  }
}

/** A file in place of an output stream of the process. */
function openFile(path: string) {
  const fd = openSync(path, 'w')
  return {
    stream: { fd, isTTY: false } as unknown as Stream,
    text: () => readFileSync(path, 'utf8'),
    close: () => closeSync(fd),
  }
}
