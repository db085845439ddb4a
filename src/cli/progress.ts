// Shows the progress of long work: a bar on a terminal, elsewhere a plain line from time to time.

import { formatCount } from '../text/format-count.ts'
import type { CopyWatch } from '../store/inspecting.ts'
import type { LockWait, WorkWatch } from '../store/work-watch.ts'
import type { StorePlace } from '../store/open-store.ts'
import type { CommandContext, Input } from './command.ts'

/** The progress of a command. */
interface Progress {
  readonly step: string
  /** The count so far, such as of rows; undefined if nothing is counted. */
  readonly count?: number
  /** The share of the work that is done, from 0 to 1; NaN while it is unknown. */
  readonly done: number
}

const barEveryMs = 100
const lineEveryMs = 5_000
const barLength = 30

/**
 * Creates a function that shows progress on standard error.
 *
 * @param unit is the unit of the count.
 */
export function createProgress({ stderr, now }: CommandContext, unit = 'rows') {
  const startedAt = now()
  let nextAt = startedAt + (stderr.isTTY ? 0 : lineEveryMs)
  const counted = (count: number | undefined) => {
    if (count === undefined) return []
    const rate = Math.round(count / Math.max((now() - startedAt) / 1_000, 0.001))
    return [`${formatCount(count)} ${unit}`, `${formatCount(rate)} ${unit}/s`]
  }
  return ({ step, count, done }: Progress): void => {
    if (now() < nextAt) return
    nextAt = now() + (stderr.isTTY ? barEveryMs : lineEveryMs)
    const share = Number.isNaN(done) ? [] : [`${Math.floor(done * 100)} %`]
    if (stderr.isTTY) {
      const drawn = '█'.repeat(Math.floor(done * barLength)).padEnd(barLength, '░')
      const bar = share.map((percent) => ` ${drawn} ${percent}`)
      stderr.showStatus([step + bar.join(''), ...counted(count)].join(' | '))
    } else {
      const figures = [...counted(count), ...share].join(', ')
      stderr.writeLines(figures === '' ? `${step} …` : `${step}: ${figures}`)
    }
  }
}

/** Reports that the command is waiting for the write lock; a signal ends the wait. */
export function lockWait({ stderr, signal }: CommandContext): LockWait {
  return { onWait: (reason = waitingLine) => stderr.writeLines(reason), signal }
}

/** The store of a command, which reports if it has to wait for it; a signal ends the wait. */
export function storeOf({ settings }: Input, context: CommandContext): StorePlace {
  const { db, withheld } = settings
  return { db, withheld, wait: lockWait(context) }
}

const waitingLine = 'another command is writing to the store; waiting for it to finish'

/** Shows the progress of work on a store, and that it waits for the write lock. */
export function watchWork(context: CommandContext): WorkWatch {
  const show = createProgress(context)
  return { ...lockWait(context), onStep: (step, done) => show({ step, done }) }
}

/** Shows what is being checked; a signal ends the checks. */
export function watchChecks(context: CommandContext) {
  const show = createProgress(context)
  return (step: string): void => {
    context.signal.throwIfAborted()
    show({ step: `checking ${step}`, done: NaN })
  }
}

/** Shows the progress of a copy. */
export function watchCopy(context: CommandContext, step: string): CopyWatch {
  const show = createProgress(context, 'MB')
  return {
    signal: context.signal,
    onProgress: (bytes, totalBytes) =>
      show({ step, count: Math.round(bytes / 1_000_000), done: bytes / totalBytes }),
  }
}
