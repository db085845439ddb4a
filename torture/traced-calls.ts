// Faults at the system calls of a command, by strace.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportCase } from './cases.ts'
import { type Ground, type Outcome, spread } from './outcome.ts'
import { describeEnd, runDossier } from './processes.ts'

/** What happens at a call: the command is killed, or the call fails. */
type Effect = 'kill' | 'EIO' | 'ENOSPC'

/** The effects to try, by the calls that they happen at. */
export type Effects = Readonly<Record<string, readonly Effect[]>>

/** A command that can be repeated from the same state. */
type Traced = Pick<ImportCase, 'args' | 'db' | 'folder' | 'reset'>

/** An effect that a command is to meet. */
export interface Met {
  /** Such as `killed at fsync 3 of 7`. */
  readonly what: string
  /** The command in front of the executable. */
  readonly wrapper: readonly string[]
  /** Whether the call is surely made: the last ones are not always. */
  readonly isSure: boolean
}

/** Whether system calls can be traced: strace is installed and permitted. */
const canTrace = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true']).status === 0

// With one thread for asynchronous work, each run makes the same calls in the same thread.
const traced = ['-f', '-qq', '-e', 'signal=none', '-E', 'UV_THREADPOOL_SIZE=1']
// Only traced calls stop the program, so it runs at almost normal speed.
const quick = [...traced, '--seccomp-bpf']

/** At how many calls of a kind the long form tries an effect. */
const callsMax = 50

/**
 * Has a command, reset before, meet each effect: at each such call if they are few, at the first
 * and at some of the others if they are many; in a short form, at one.
 */
export async function* metAtCalls(
  ground: Ground,
  command: Traced,
  effects: Effects,
  meet: (met: Met) => Promise<Outcome>,
): AsyncGenerator<Outcome> {
  if (!canTrace) {
    const found = 'strace is not installed, or may not trace'
    yield { what: `a fault at ${Object.keys(effects).join(', ')}`, found, isSkipped: true }
    return
  }
  const { random, isShort } = ground
  const counts = await countCalls(command, Object.keys(effects))
  for (const [call, kinds] of Object.entries(effects)) {
    const count = counts.get(call) ?? 0
    for (const kind of kinds) {
      for (const n of chooseCalls(ground, count)) {
        // In strace, `7` means only the seventh call, `7+` every call from the seventh on.
        const froms = kind === 'kill' ? [''] : ['', '+']
        for (const from of isShort ? [random.pick(froms)] : froms) {
          await command.reset()
          yield await meet({
            what: `${kind} at ${call} ${n}${from} of ${count}`,
            wrapper: interfere(call, kind, `${n}${from}`),
            isSure: n <= count / 2,
          })
        }
      }
    }
  }
}

function chooseCalls({ isShort, random }: Ground, count: number): number[] {
  if (count === 0) return []
  if (isShort) return [random.integer(1, count)]
  if (count <= callsMax) return spread(1, count, count)
  const first = Math.ceil(callsMax / 3)
  return [...new Set([...spread(1, first, first), ...spread(1, count, callsMax - first)])]
}

/** A wrapper that makes something happen at a call; each thread counts its own calls. */
function interfere(call: string, effect: Effect, when: string): string[] {
  const injected = effect === 'kill' ? 'signal=KILL' : `error=${effect}`
  const expressions = ['-e', `trace=${call}`, '-e', `inject=${call}:${injected}:when=${when}`]
  // With --seccomp-bpf, strace 6.1 injects errors but sends no signals.
  return ['strace', ...(effect === 'kill' ? traced : quick), '-o', '/dev/null', ...expressions]
}

/** Counts some calls of a command, each in the thread that makes most of them, SQLite's. */
async function countCalls(
  command: Traced,
  calls: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const log = join(command.folder, 'calls')
  await command.reset()
  const wrapper = ['strace', ...quick, '-e', `trace=${calls.join(',')}`, '-o', log]
  const ended = await runDossier(command.args(command.db), { wrapper })
  if (ended.code !== 0) throw new Error(`the traced command ${describeEnd(ended)}`)
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
