// Long work shows itself: a bar on a terminal, a plain line now and then elsewhere.

import cliProgress from 'cli-progress'
import type { Progress } from '../import/import-files.ts'
import type { CommandContext } from './command.ts'
import { formatCount } from './table.ts'

/** What a command shows of its work while it goes on; all of it on standard error. */
interface ProgressDisplay {
  show(progress: Progress): void
  /** A line of its own, beside the bar. */
  tell(line: string): void
  end(): void
}

const lineEveryMs = 5_000
const barFormat = '{step} [{bar}] {percentage}% | {rows} rows | {rate} rows/s'
const unboundedFormat = '{step} | {rows} rows | {rate} rows/s'

/** @param totalBytes is undefined where it cannot be known, as on standard input. */
export function createProgress(
  { stderr, now }: CommandContext,
  totalBytes: number | undefined,
): ProgressDisplay {
  const startedAt = now()
  const rate = (rows: number) => Math.round(rows / Math.max((now() - startedAt) / 1_000, 0.001))
  return stderr.isTTY
    ? createBar(stderr, totalBytes, rate)
    : createLines(stderr, startedAt, now, rate)
}

function createBar(
  stderr: NodeJS.WriteStream,
  totalBytes: number | undefined,
  rate: (rows: number) => number,
): ProgressDisplay {
  const bar = new cliProgress.SingleBar(
    {
      format: totalBytes === undefined ? unboundedFormat : barFormat,
      stream: stderr,
      hideCursor: true,
      clearOnComplete: true,
      barsize: 30,
    },
    cliProgress.Presets.shades_classic,
  )
  let isShown = false
  return {
    show({ step, rows, bytes }) {
      const payload = {
        step,
        rows: formatCount(rows),
        rate: formatCount(rate(rows)),
      }
      if (!isShown) bar.start(totalBytes ?? 0, bytes, payload)
      isShown = true
      bar.update(bytes, payload)
      // Merging is one long step without a pause for the bar's own timer.
      if (step === 'merging') bar.render()
    },
    tell: (line) => void stderr.write(`\n${line}\n`),
    end() {
      if (isShown) bar.stop()
      isShown = false
    },
  }
}

function createLines(
  stderr: NodeJS.WriteStream,
  startedAt: number,
  now: () => number,
  rate: (rows: number) => number,
): ProgressDisplay {
  let nextAt = startedAt + lineEveryMs
  return {
    show({ step, rows }) {
      if (now() < nextAt) return
      nextAt = now() + lineEveryMs
      const count = formatCount(rows)
      stderr.write(`${step}: ${count} rows, ${formatCount(rate(rows))} rows/s\n`)
    },
    tell: (line) => void stderr.write(`${line}\n`),
    end: () => undefined,
  }
}
