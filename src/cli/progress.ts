// Shows the progress of long work: a bar on a terminal, elsewhere a plain line from time to time.

import cliProgress from 'cli-progress'
import type { CommandContext } from './command.ts'
import type { Output } from './output.ts'
import { formatCount } from '../format-count.ts'
import { printable } from '../printable.ts'

/** The progress of a command. */
interface Progress {
  readonly step: string
  /** The count so far, such as of rows. */
  readonly count: number
  readonly bytes: number
}

/** Shows progress on standard error. */
export interface ProgressDisplay {
  show(progress: Progress): void
  /** Writes a separate line, below the bar. */
  writeLine(line: string): void
  end(): void
}

const lineEveryMs = 5_000
const barFormat = '{step} [{bar}] {percentage}% | {counted}'
const unboundedFormat = '{step} | {counted}'

/**
 * @param totalBytes is undefined if it is unknown, as for standard input.
 * @param unit is the unit of the count.
 */
export function createProgress(
  { stderr, now }: CommandContext,
  totalBytes: number | undefined,
  unit = 'rows',
): ProgressDisplay {
  const startedAt = now()
  const counted = (count: number, separator: string) => {
    const rate = Math.round(count / Math.max((now() - startedAt) / 1_000, 0.001))
    return `${formatCount(count)} ${unit}${separator}${formatCount(rate)} ${unit}/s`
  }
  return stderr.isTTY
    ? createBar(stderr, totalBytes, counted)
    : createLines(stderr, startedAt, now, counted)
}

type Counted = (count: number, separator: string) => string

function createBar(
  stderr: Output,
  totalBytes: number | undefined,
  counted: Counted,
): ProgressDisplay {
  const bar = new cliProgress.SingleBar(
    {
      format: totalBytes === undefined ? unboundedFormat : barFormat,
      stream: stderr.terminal,
      hideCursor: true,
      clearOnComplete: true,
      barsize: 30,
    },
    cliProgress.Presets.shades_classic,
  )
  let isShown = false
  return {
    show({ step, count, bytes }) {
      const payload = { step: printable(step), counted: counted(count, ' | ') }
      if (!isShown) bar.start(totalBytes ?? 0, bytes, payload)
      isShown = true
      bar.update(bytes, payload)
      // Merging blocks the event loop, so the bar's own timer does not fire.
      if (step === 'merging') bar.render()
    },
    writeLine: (line) => stderr.writeLines('', line),
    end() {
      if (isShown) bar.stop()
      isShown = false
    },
  }
}

function createLines(
  stderr: Output,
  startedAt: number,
  now: () => number,
  counted: Counted,
): ProgressDisplay {
  let nextAt = startedAt + lineEveryMs
  return {
    show({ step, count }) {
      if (now() < nextAt) return
      nextAt = now() + lineEveryMs
      stderr.writeLines(`${step}: ${counted(count, ', ')}`)
    },
    writeLine: (line) => stderr.writeLines(line),
    end: () => undefined,
  }
}
