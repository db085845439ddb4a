// Shows the progress of long work: a bar on a terminal, elsewhere a plain line from time to time.

import cliProgress from 'cli-progress'
import { formatCount } from '../text/format-count.ts'
import { printable } from '../text/printable.ts'
import type { LockWait, WorkWatch } from '../store/work-watch.ts'
import type { CommandContext } from './command.ts'
import type { Output } from './output.ts'

/** The progress of a command. */
interface Progress {
  readonly step: string
  /** The count so far, such as of rows; undefined if nothing is counted. */
  readonly count?: number
  /** The share of the work that is done, from 0 to 1; NaN while it is unknown. */
  readonly done: number
}

/** Shows progress on standard error, until `end`. */
interface Display {
  show(progress: Progress): void
  /** Writes a separate line, below the bar. */
  writeLine(line: string): void
  end(): void
}

export type ProgressDisplay = Display & Disposable

const lineEveryMs = 5_000
const barFormat = '{step} [{bar}] {percentage}%{counted}'
const unboundedFormat = '{step}{counted}'

/** @param unit is the unit of the count. */
export function createProgress(context: CommandContext, unit = 'rows'): ProgressDisplay {
  const { stderr, now } = context
  const startedAt = now()
  const counted = (count: number | undefined) => {
    if (count === undefined) return []
    const rate = Math.round(count / Math.max((now() - startedAt) / 1_000, 0.001))
    return [`${formatCount(count)} ${unit}`, `${formatCount(rate)} ${unit}/s`]
  }
  const display = stderr.isTTY
    ? createBar(stderr, counted)
    : createLines(stderr, startedAt, now, counted)
  return { ...display, [Symbol.dispose]: () => display.end() }
}

/** What a command reports while it waits for the write lock. */
export const waitingLine = 'another command is writing to the store; waiting for it to finish'

/** Reports that the command is waiting; a signal ends the wait. */
export function lockWait({ stderr, signal }: CommandContext): LockWait {
  return { onWait: (reason = waitingLine) => stderr.writeLines(reason), signal }
}

/** Shows work on a store, and its waiting for the write lock, until `end`. */
export function watchWork(context: CommandContext): WorkWatch & Disposable & { end(): void } {
  const progress = createProgress(context)
  return {
    ...lockWait(context),
    onStep: (step, done) => progress.show({ step, done }),
    end: () => progress.end(),
    [Symbol.dispose]: () => progress.end(),
  }
}

type Counted = (count: number | undefined) => string[]

function createBar(stderr: Output, counted: Counted): Display {
  let bar: cliProgress.SingleBar | undefined
  return {
    show({ step, count, done }) {
      const texts = counted(count).map((text) => ` | ${text}`)
      const payload = { step: printable(step), counted: texts.join('') }
      const value = Number.isNaN(done) ? 0 : done
      if (bar === undefined) {
        bar = new cliProgress.SingleBar(
          {
            format: Number.isNaN(done) ? unboundedFormat : barFormat,
            stream: stderr.terminal,
            hideCursor: true,
            clearOnComplete: true,
            barsize: 30,
          },
          cliProgress.Presets.shades_classic,
        )
        bar.start(1, value, payload)
      }
      bar.update(value, payload)
      // Work in a store blocks the event loop, so the bar's own timer may not fire.
      bar.render()
    },
    writeLine: (line) => stderr.writeLines('', line),
    end() {
      bar?.stop()
      bar = undefined
    },
  }
}

function createLines(
  stderr: Output,
  startedAt: number,
  now: () => number,
  counted: Counted,
): Display {
  let nextAt = startedAt + lineEveryMs
  return {
    show({ step, count, done }) {
      if (now() < nextAt) return
      nextAt = now() + lineEveryMs
      const share = Number.isNaN(done) ? [] : [`${Math.floor(done * 100)} %`]
      stderr.writeLines(`${step}: ${[...counted(count), ...share].join(', ')}`)
    },
    writeLine: (line) => stderr.writeLines(line),
    end: () => undefined,
  }
}
