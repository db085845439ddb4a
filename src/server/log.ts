// The log on standard output: JSON lines for programs, a readable form on a terminal. Writing a
// line never waits: not for a reader that has stopped reading, nor for a disk that is full.

import { type DestinationStream, type Logger, pino } from 'pino'
import type { Settings } from '../config.ts'
import { printableJson, printableLines } from '../printable.ts'
import { withoutKeys } from '../redact.ts'
import { createLineWriter, type LineWriter } from './line-writer.ts'
import { openLogOutput } from './log-output.ts'

/** A log, what has become of its lines, and the way to be sure that the last ones are written. */
export interface Log {
  readonly logger: Logger
  /** Writes a line of another process's log, which has the line feed. */
  readonly forward: (line: string) => void
  /** How many lines have been dropped, since they could not be written. */
  readonly dropped: () => number
  /** Waits until all lines are written, for a second at most. */
  readonly close: () => Promise<void>
}

/** The most bytes of a line, with the line feed. */
export const lineBytesMax = 4_096
/** The texts of a line that is too long are cut to so many characters, the first that will do. */
const textLengths = [1_000, 200, 40]

const standardOutput = 1

/** How lines look. */
type Format = (line: string) => string

/**
 * Opens the log. On a terminal, or with the format `text`, it is for people to read.
 *
 * @param isForwarded means that another process reads it, and forwards it to a log of its own.
 */
export async function createLog(
  { logFormat, logLevel }: Settings,
  { isTTY }: { readonly isTTY: boolean },
  isForwarded = false,
): Promise<Log> {
  const format = isForwarded ? unchanged : await formatOf(logFormat, isTTY)
  const output = openLogOutput(standardOutput)
  const writer = createLineWriter(output, (count) => format(droppedLine(count)))
  // Where an error that nobody has foreseen ends the process, the lines before it say the most.
  process.once('exit', () => writer.writeLast())
  const logger = pino({ level: logLevel, base: null }, lineStream(writer, format))
  logWarnings(logger)
  const forward = (line: string) => writer.write(format(line))
  return { logger, forward, dropped: writer.dropped, close: writer.close }
}

function unchanged(line: string): string {
  return line
}

async function formatOf(logFormat: Settings['logFormat'], isTTY: boolean): Promise<Format> {
  if (logFormat === 'text' || (logFormat === 'auto' && isTTY)) return textFormat(isTTY)
  return isTTY ? printableLine : unchanged
}

async function textFormat(colorize: boolean): Promise<Format> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize, ignore: 'pid,hostname' })
  return (line) => format(printableValues(line))
}

/** A line of JSON as a terminal may show it. */
function printableLine(line: string): string {
  return `${printableJson(line.trimEnd())}\n`
}

/** A line with every value as a terminal may show it; the line breaks of a stack stay. */
function printableValues(line: string): string {
  return JSON.stringify(
    JSON.parse(line, (_name, value: unknown) =>
      typeof value === 'string' ? printableLines(value) : value,
    ),
  )
}

/** No line holds a key, even where a client has put one (invariant 7), and none is too long. */
function lineStream(writer: LineWriter, format: Format): DestinationStream {
  return { write: (line) => writer.write(format(shortLine(withoutKeys(line)))) }
}

/** A line with its texts cut where it would be too long; what remains is JSON. */
export function shortLine(line: string): string {
  if (line.length <= lineBytesMax / 3 || Buffer.byteLength(line) <= lineBytesMax) return line
  const fields = JSON.parse(line) as Readonly<Record<string, unknown>>
  for (const length of textLengths) {
    const cut = (_name: string, value: unknown) =>
      typeof value === 'string' && value.length > length ? `${value.slice(0, length)}…` : value
    const text = `${JSON.stringify(fields, cut)}\n`
    if (Buffer.byteLength(text) <= lineBytesMax) return text
  }
  const { level, time } = fields
  return `${JSON.stringify({ level, time, msg: 'a line was too long to be logged' })}\n`
}

function droppedLine(count: number): string {
  const fields = {
    level: 40,
    time: Date.now(),
    dropped: count,
    msg: 'log lines were dropped',
  }
  return `${JSON.stringify(fields)}\n`
}

/** Warnings of the runtime are lines of the log: standard error may have no reader either. */
function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') logger.warn({ err: warning }, 'warning')
  })
}
