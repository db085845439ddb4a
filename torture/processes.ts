// Starts processes of the real executable, to be signalled or hindered.

import { type ChildProcess, spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../test/support/run-command.ts'

/** The executable under test. */
const dossier = resolve(import.meta.dirname, '../bin/dossier')

/** How a process ended, and its output. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
  readonly ms: number
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface StartOptions {
  /** A command in front of the executable, such as `strace …`. */
  readonly wrapper?: readonly string[]
  /** The folder for the process's temporary files. */
  readonly temporary?: string | undefined
}

export function startDossier(args: readonly string[], options: StartOptions = {}): Running {
  const [program = dossier, ...rest] = [...(options.wrapper ?? []), dossier, ...args]
  const { temporary } = options
  const folders = temporary === undefined ? {} : { TMPDIR: temporary, SQLITE_TMPDIR: temporary }
  const startedAt = performance.now()
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...folders },
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = new Promise<Ended>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code, signal) => {
      done({ code, signal, out, err, ms: performance.now() - startedAt })
    })
  })
  return { child, ended }
}

export function runDossier(args: readonly string[], options?: StartOptions): Promise<Ended> {
  return startDossier(args, options).ended
}

export function isRunning({ child }: Running): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** Waits until a claim holds; false if the process has ended before. */
export async function reach(running: Running, claim: () => Promise<boolean>): Promise<boolean> {
  while (isRunning(running)) {
    if (await claim()) return true
    await sleep(1)
  }
  return false
}

/** Runs `dossier` in this process, which is cheaper where nothing interferes with it. */
export async function runHere(args: readonly string[]): Promise<Ended> {
  const startedAt = performance.now()
  const run = await runCommand('.', args)
  return { ...run, signal: null, ms: performance.now() - startedAt }
}

/** Runs `dossier`; throws if it fails, since the trials that follow would be meaningless. */
export async function mustRun(args: readonly string[]): Promise<Ended> {
  const ended = await runHere(args)
  if (ended.code !== 0) throw new Error(`dossier ${args.join(' ')}: ${describeEnd(ended)}`)
  return ended
}

export function describeEnd({ code, signal, err }: Ended): string {
  return `ended with ${signal ?? String(code)}${err === '' ? '' : `: ${err.trimEnd()}`}`
}

/** Removes lines of progress, which a command prints on a slow machine. */
export function withoutProgress(err: string): string {
  return err.replace(/^[a-z_ ]+(?: …|: (?:[\d,]+ (\w+), [\d,]+ \1\/s)?(?:, )?(?:\d+ %)?)\n/gm, '')
}

/** Whether a command has done its work: a signal after the commit still ends the process. */
export function isDone({ code, out }: Ended): boolean {
  return code === 0 || (code !== 1 && out.includes('Committed'))
}

/** Whether a command does not know what it has done. */
export const isUnknown = ({ err }: Ended) => err.includes('lost during COMMIT')

/** Returns what is wrong with the end of a command that failed, or was interrupted. */
export function faultOfRefusal({ code, signal, ...ended }: Ended): string | undefined {
  // Before the process handles signals, a signal simply ends it.
  if (signal === 'SIGTERM' || signal === 'SIGINT') return undefined
  const err = withoutProgress(ended.err).replace(
    /^(?:dossier: warning: .*|.*; waiting for it to finish)\n/gm,
    '',
  )
  const isInterrupted = code === 130 || code === 143
  if (isInterrupted && err === 'dossier: interrupted; nothing was changed\n') return undefined
  if (code !== 1) return `exit code ${String(code)} instead of 1: ${err.slice(0, 500)}`
  if (!/^dossier: [^\n]+\n$/.test(err)) return `not one line: ${err.slice(0, 500)}`
  if (!/; \w/.test(err)) return `does not say what to do: ${err.trimEnd()}`
  return undefined
}
