// Counts the system calls of an import, and tampers with them, using strace.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportCase } from './cases.ts'
import { describeEnd, runDossier } from './processes.ts'

/** The system calls with which SQLite changes files. */
export const writingCalls = ['pwrite64', 'fsync', 'ftruncate', 'unlink'] as const

/** Those of a restore, which renames a file, too. */
export const restoringCalls = [...writingCalls, 'rename'] as const

/** Whether system calls can be traced: strace is installed and permitted. */
export const canTrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0

/** Why a campaign that needs strace is skipped. */
export const whyNoTrace = 'strace is not installed, or may not trace'

// With one thread for asynchronous work, each run makes the same calls in the same thread.
const traced = ['-f', '-qq', '-e', 'signal=none', '-E', 'UV_THREADPOOL_SIZE=1']
// Only traced calls stop the program, so it runs at almost normal speed.
const quick = [...traced, '--seccomp-bpf']

/**
 * Returns a wrapper that makes something happen at a system call of a program.
 *
 * @param effect is one of strace's, such as `error=EIO:when=7`; each thread counts its own calls.
 */
export function interfere(call: string, effect: string): string[] {
  const expressions = ['-e', `trace=${call}`, '-e', `inject=${call}:${effect}`]
  // With --seccomp-bpf, strace 6.1 injects errors but sends no signals.
  const way = effect.startsWith('signal=') ? traced : quick
  return ['strace', ...way, '-o', '/dev/null', ...expressions]
}

/** Counts some calls of an import, each in the thread that makes most of them, SQLite's. */
export async function countCalls(
  tried: Pick<ImportCase, 'args' | 'db' | 'folder' | 'reset'>,
  calls: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const log = join(tried.folder, 'calls')
  await tried.reset()
  const wrapper = ['strace', ...quick, '-e', `trace=${calls.join(',')}`, '-o', log]
  const ended = await runDossier(tried.args(tried.db), { wrapper })
  if (ended.code !== 0) throw new Error(`the traced import ${describeEnd(ended)}`)
  const counts = new Map<string, number>()
  const most = new Map<string, number>()
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(\w+)\(/.exec(line) ?? []
    const count = (counts.get(`${thread} ${call}`) ?? 0) + 1
    counts.set(`${thread} ${call}`, count)
    most.set(call, Math.max(count, most.get(call) ?? 0))
  }
  return most
}
