// The log on standard output: JSON lines for programs, a readable form on a terminal.

import { type DestinationStream, type Logger, destination, pino } from 'pino'
import type { Settings } from '../config.ts'
import { keyInText } from '../keys/key.ts'
import { printableJson, printableLines } from '../printable.ts'

/** A log, and the way to be sure that its last lines are written. */
export interface Log {
  readonly logger: Logger
  flush(): void
}

/** Lines are gathered to this many bytes, or for this long, before they are written. */
const bufferBytes = 8_192
const flushMs = 500
/**
 * Where several processes write to one pipe, POSIX keeps writes of up to so many bytes whole
 * (PIPE_BUF of Linux), and so lines.
 */
const sharedWriteBytesMax = 4_096

/**
 * Opens the log. On a terminal, or with the format `text`, it is for people to read.
 *
 * @param isShared means that other processes write to the same standard output.
 */
export async function createLog(
  settings: Settings,
  stdout: { readonly isTTY: boolean },
  isShared = false,
): Promise<Log> {
  const { logFormat, logLevel } = settings
  const isText = logFormat === 'text' || (logFormat === 'auto' && stdout.isTTY)
  if (isText) return createTextLog(logLevel, stdout.isTTY)
  return createJsonLog(logLevel, isShared, stdout.isTTY)
}

function createJsonLog(level: string, isShared: boolean, isTTY: boolean): Log {
  const sizes = isShared
    ? { minLength: sharedWriteBytesMax / 2, maxWrite: sharedWriteBytesMax }
    : { minLength: bufferBytes }
  const sink = destination({ dest: 1, ...sizes, sync: true })
  // Whoever read the log has gone; serving goes on without it.
  sink.on('error', () => undefined)
  const timer = setInterval(() => sink.flush(), flushMs).unref()
  // Where an error that nobody has foreseen ends the process, the lines before it say the most.
  process.once('exit', () => {
    try {
      sink.flushSync()
    } catch {
      // Nobody is there to be told that the log cannot be written.
    }
  })
  return {
    logger: pino({ level, base: null }, withoutKeys(isTTY ? rewriting(sink, printableJson) : sink)),
    flush() {
      clearInterval(timer)
      sink.flushSync()
    },
  }
}

async function createTextLog(level: string, colorize: boolean): Promise<Log> {
  const { default: pretty } = await import('pino-pretty')
  const sink = pretty({ colorize, destination: 1, sync: true, ignore: 'pid,hostname' })
  const lines = withoutKeys(rewriting(sink, printableValues))
  return { logger: pino({ level, base: null }, lines), flush: () => undefined }
}

/** A line with every value as a terminal may show it; the line breaks of a stack stay. */
function printableValues(line: string): string {
  return JSON.stringify(
    JSON.parse(line, (_name, value: unknown) =>
      typeof value === 'string' ? printableLines(value) : value,
    ),
  )
}

function rewriting(sink: DestinationStream, rewrite: (line: string) => string): DestinationStream {
  return { write: (line) => sink.write(`${rewrite(line.trimEnd())}\n`) }
}

/** A key that a client has put where it does not belong never reaches the log (invariant 7). */
function withoutKeys(sink: DestinationStream): DestinationStream {
  return {
    write(line) {
      sink.write(line.includes('dossier_') ? line.replace(keyInText, 'dossier_[key]') : line)
    },
  }
}
