// The real executable, run as an operator would.

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

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
  options: { readonly input?: string | Buffer; readonly env?: Record<string, string> } = {},
): Promise<Run> {
  return new Promise((done) => {
    const child = spawn(dossier, args, { cwd, env: { ...process.env, ...options.env } })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
    child.on('close', (code) => done({ code, out, err }))
  })
}
