// The log on standard output: JSON lines for programs, a readable form on a terminal. Writing a
// line never waits for a slow reader or a full disk.

import { type Logger, pino } from 'pino'
import type { Settings } from '../config/settings.ts'
import { printableJson, printableLines } from '../text/printable.ts'
import { withoutKeys } from '../text/redact.ts'
import { createLineWriter } from './line-writer.ts'

export type Log = Awaited<ReturnType<typeof createLog>>

/** The maximum size of a line in bytes, including the line feed. */
export const lineBytesMax = 4_096

const standardOutput = 1

/** Formats a line of JSON for the output. */
type Format = (line: string) => string

/** Opens the log. With the format `text`, or `auto` on a terminal, it is human-readable. */
export async function createLog(
  { logFormat, logLevel }: Settings,
  { isTTY }: { readonly isTTY: boolean },
) {
  const format = await formatOf(logFormat, isTTY)
  const writer = createLineWriter(standardOutput, (count) => format(droppedLine(count)))
  process.once('exit', () => writer.writeLast())
  // Without keys (invariant 7), and not too long.
  const write = (line: string) => writer.write(format(shortLine(withoutKeys(line))))
  const logger = pino({ level: logLevel, base: null }, { write })
  logWarnings(logger)
  return { logger, dropped: writer.dropped }
}

async function formatOf(logFormat: Settings['logFormat'], isTTY: boolean): Promise<Format> {
  if (logFormat === 'text' || (logFormat === 'auto' && isTTY)) {
    const { prettyFactory } = await import('pino-pretty')
    const format = prettyFactory({ colorize: isTTY, ignore: 'pid,hostname' })
    return (line) => format(printableValues(line))
  }
  return isTTY ? (line) => `${printableJson(line.trimEnd())}\n` : (line) => line
}

/** Escapes every value of a line for a terminal, but keeps the line breaks of a stack trace. */
function printableValues(line: string): string {
  return JSON.stringify(
    JSON.parse(line, (_name, value: unknown) =>
      typeof value === 'string' ? printableLines(value) : value,
    ),
  )
}

/** Cuts the texts of an oversized line; the result is still JSON. */
export function shortLine(line: string): string {
  if (line.length <= lineBytesMax / 3 || Buffer.byteLength(line) <= lineBytesMax) return line
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>
  for (const length of [1_000, 200, 40]) {
    const cut = (_name: string, value: unknown) =>
      typeof value === 'string' && value.length > length ? `${value.slice(0, length)}…` : value
    const text = `${JSON.stringify(fields, cut)}\n`
    if (Buffer.byteLength(text) <= lineBytesMax) return text
  }
  const { level, time } = fields
  return `${JSON.stringify({ level, time, msg: 'a line was too long to be logged' })}\n`
}

function droppedLine(count: number): string {
  const fields = { level: 40, time: Date.now(), dropped: count, msg: 'log lines were dropped' }
  return `${JSON.stringify(fields)}\n`
}

/** Logs the runtime's warnings, since standard error may have no reader. */
function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') logger.warn({ err: warning }, 'warning')
  })
}
