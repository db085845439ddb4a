// The real executable, run as an operator would.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { storeAt } from './store-at.ts'
import type { Scope } from './temp-store.ts'
import { patienceMs } from './until.ts'

export const dossier = resolve(import.meta.dirname, '../../bin/dossier')
const commandsInTurn = join(import.meta.dirname, 'commands-in-turn.ts')

/** What is typed after `dossier`; a line is split at its blanks. */
export type Words = string | readonly string[]

/**
 * The result of a run, without lines of progress; its code is null after a signal that no process
 * can handle.
 */
export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Checks how a command ended, and what it said on standard error. */
export function checkExit({ code, err }: Run, expected: number, says: RegExp): void {
  assert.equal(code, expected, err)
  assert.match(err, says)
}

export interface RunOptions {
  readonly input?: string | Buffer
  readonly env?: Record<string, string>
  /** A command that runs the executable, such as `setpriv …`. */
  readonly via?: readonly string[]
  /** Called with all of standard error so far, as it arrives. */
  readonly onErr?: (err: string) => void
}

/** A running process and its output so far. */
export type RunningDossier = ReturnType<typeof launch>

// Where other processes keep an event loop from running, a server would refuse requests; tests of
// that have an application of their own.
const patience = { DOSSIER_DELAY_MS_MAX: '60000' }

/** Starts `dossier` in a folder; it is ended with the test. */
export function startDossier(
  scope: Scope,
  cwd: string,
  args: Words,
  options: RunOptions = {},
): RunningDossier {
  const running = launch(cwd, args, options)
  const { child } = running
  scope.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return running
}

/** Runs `dossier` in a folder to its end. */
export function runDossier(cwd: string, args: Words, options: RunOptions = {}): Promise<Run> {
  const { child, ended } = launch(cwd, args, options)
  child.stdin.end(options.input ?? '')
  return ended
}

/** Runs command lines in one process, which takes as long to start as each would of its own. */
export async function runAllDossier(
  cwd: string,
  commands: readonly Words[],
  options: RunOptions,
): Promise<Run[]> {
  const program = [process.execPath, '--no-warnings', commandsInTurn]
  const { child, ended } = launch(cwd, [cwd, JSON.stringify(commands)], options, program)
  child.stdin.end(options.input ?? '')
  const { out, err } = await ended
  assert.equal(err, '')
  return JSON.parse(out) as Run[]
}

/** Starts `dossier` in a folder; the caller ends it. */
export function launch(
  cwd: string,
  args: Words,
  options: RunOptions,
  program: readonly string[] = [dossier],
) {
  const [command = '', ...words] = [...(options.via ?? []), ...program, ...wordsOf(args)]
  const env = { ...process.env, ...patience, ...storeOf(cwd), ...options.env }
  const child = spawn(command, words, { cwd, env })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
    options.onErr?.(said.err)
  })
  child.stdin.on('error', () => undefined)
  let isOver = false
  const ended = new Promise<Run>((done) => {
    child.on('close', (code, signal) => {
      isOver = true
      const err = said.err.replaceAll(progressLine, '')
      done({ code: code ?? shownFor[signal ?? ''] ?? null, out: said.out, err })
    })
  })
  return {
    child,
    said,
    /** The result, once all output has been read. */
    ended,
    /** Waits until the output matches. */
    until: async (pattern: RegExp): Promise<void> => {
      let [length, since] = [0, performance.now()]
      while (!pattern.test(said.out + said.err)) {
        const printed = said.out.length + said.err.length
        // A process that goes on printing is at work: imports give way to everything else.
        if (printed > length) [length, since] = [printed, performance.now()]
        const isHopeless = isOver || performance.now() - since > patienceMs
        assert.ok(!isHopeless, `in vain for ${String(pattern)}: ${said.out}${said.err}`)
        await sleep(10)
      }
    },
  }
}

/** The words of a command line. */
export function wordsOf(words: Words): readonly string[] {
  return typeof words === 'string' ? words.split(' ') : words
}

/** What work of more than five seconds says, as any work is on a busy machine. */
const progressLine = /^[a-z][a-z_ ]*(?: …|: (?:[\d,]+ \S+, [\d,]+ \S+\/s(?:, \d+ %)?|\d+ %))\n/gm

/** What a shell shows for these ends, too: an interrupted command may end by the signal itself. */
const shownFor: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

/** Runs a command with a redirection of the shell, such as `>/dev/full`. */
export const redirected = (redirection: string) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh']

/** Runs a command as user nobody; undefined if this machine cannot. */
export function asNobody(): readonly string[] | undefined {
  const words = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
  if (spawnSync('setpriv', [...words.slice(1), 'true']).status !== 0) return undefined
  const shared = process.env['DOSSIER_TEST_SHARED']
  if (shared === undefined) return words
  // Node.js keeps compiled sources for each user, and this one may not write to the usual folder.
  const compiled = join(shared, 'compiled-for-nobody')
  mkdirSync(compiled, { recursive: true })
  chmodSync(compiled, 0o777)
  return [...words, 'env', `NODE_COMPILE_CACHE=${compiled}`]
}

/**
 * Runs a command with a small disk in the place of a folder; undefined if this machine cannot.
 *
 * @param limit as tmpfs has it: `size=1m`, or `nr_inodes=5`.
 */
export function withSmallDisk(folder: string, limit: string): readonly string[] | undefined {
  const script = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"'
  const words = ['unshare', '-m', 'sh', '-c', script, 'sh', limit, folder]
  return spawnSync('unshare', [...words.slice(1), 'true']).status === 0 ? words : undefined
}

/** The peak memory of a process so far, in MB; 0 once it has ended. Linux only. */
export function peakMemoryMb(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_000
  } catch {
    return 0
  }
}

/** The resident memory of a running process, in MiB. Linux only. */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024
}

/** Makes the default store of a command stand for a file in its folder. */
export function storeOf(cwd: string): Record<string, string> {
  const file = join(cwd, 'dossier.db')
  const db = storeAt(file)
  return db === file ? {} : { DOSSIER_DB: db }
}
