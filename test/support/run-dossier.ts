// The real executable, run as an operator would.

import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { storeAt } from './store-at.ts'

export const dossier = resolve(import.meta.dirname, '../../bin/dossier')

/** What a run left behind. */
export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `dossier` in a folder. */
export function runDossier(
  cwd: string,
  args: readonly string[],
  options: {
    readonly input?: string | Buffer
    readonly env?: Record<string, string>
    /** Told all of standard error so far, as it comes. */
    readonly onErr?: (err: string) => void
  } = {},
): Promise<Run> {
  return new Promise((done) => {
    const env = { ...process.env, ...storeOf(cwd), ...options.env }
    const child = spawn(dossier, args, { cwd, env })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString()
      options.onErr?.(err)
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
    child.on('close', (code) => done({ code, out, err }))
  })
}

/** Has the store that a command takes by default stand for a file in its folder. */
export function storeOf(cwd: string): Record<string, string> {
  const file = join(cwd, 'dossier.db')
  const db = storeAt(file)
  return db === file ? {} : { DOSSIER_DB: db }
}
