// One log line per request, and the cause of each fault under the same id. No line contains a key.

import type { HttpRequest } from './wire/exchange.ts'
import { type DestinationStream, type Logger, symbols } from 'pino'
import { withoutKeys } from '../text/redact.ts'

/** What is logged and counted of a response that has been sent. */
export interface Answer {
  readonly status: number
  /** From the request to the end of its response, in milliseconds. */
  readonly ms: number
  /** The size of the body. */
  readonly bytes: number
  /** Whether the connection was lost before the end of the answer, which had begun. */
  readonly isAborted: boolean
}

export type RequestLog = ReturnType<typeof createRequestLog>

/** How many lines per second are logged for requests without a valid key. */
export const keylessLinesMax = 100
/** How many causes of a 503 are logged per second: an outage has one for each request. */
const outageLinesMax = 10
/** How long after the first omitted line their number is logged. */
const summaryMs = 1_000
/** How much of a path is logged, in characters. */
const pathLengthMax = 1_000

/**
 * Creates the request log. Every request with a valid key gets a line. Of those without one, the
 * first hundred per second get a line and the rest are counted, so that clients without a key
 * cannot fill the disk.
 *
 * @param onOmitted is called for each omitted line.
 */
export function createRequestLog(logger: Logger, onOmitted?: () => void) {
  const keyless = createLineLimit(keylessLinesMax, onOmitted)
  const outages = createLineLimit(outageLinesMax, onOmitted)
  let timer: NodeJS.Timeout | undefined

  function summarize(): void {
    clearTimeout(timer)
    timer = undefined
    const count = keyless.takeOmitted()
    if (count > 0) {
      logger.info(
        { suppressed: count },
        'requests without a valid key that have no line of their own',
      )
    }
  }

  function isLogged({ key }: HttpRequest): boolean {
    if (key !== undefined || keyless.allows()) return true
    timer ??= setTimeout(summarize, summaryMs).unref()
    return false
  }

  return {
    /** Without its query: clients put keys there by mistake. */
    answered(request: HttpRequest, answer: Answer): void {
      if (logger.isLevelEnabled('info') && isLogged(request)) writeLine(logger, request, answer)
    },
    /** Logs the cause of an internal fault, or of a 503, which the client does not see. */
    fault(request: HttpRequest, cause: unknown, isOutage: boolean): void {
      const omitted = isOutage ? outages.next() : isLogged(request) ? {} : undefined
      if (omitted === undefined) return
      const fields = { request_id: request.id, err: cause, ...omitted }
      logger.error(fields, 'the request could not be answered')
    },
    /** Logs how many lines were omitted since the last summary. */
    close: summarize,
  }
}

/**
 * Builds the line itself and writes it to the logger's stream, since this runs for every request:
 * 1 us, where the logger takes 5. Ids and methods need no escaping.
 */
function writeLine(logger: Logger, request: HttpRequest, answer: Answer): void {
  const { id, method, url, key } = request
  const ms = Math.round(answer.ms * 1_000) / 1_000
  const scope = request.endpoint?.scope
  const listing = scope === undefined ? '' : `,"resource":"${scope}"`
  const name = key === undefined ? '' : `,"key":${JSON.stringify(key.name)}`
  const aborted = answer.isAborted ? ',"aborted":true' : ''
  streamOf(logger).write(
    `{"level":30,"time":${Date.now()},"request_id":"${id}","method":"${method}",` +
      `"path":${JSON.stringify(shownPath(url))},` +
      `"status":${answer.status},"ms":${ms},"bytes":${answer.bytes}${aborted}${listing}${name}}\n`,
  )
}

/** A path without keys, and cut if it is long. */
function shownPath(url: string): string {
  const query = url.indexOf('?')
  // Keys are removed before the cut: a part of one would not be recognised.
  const path = withoutKeys(query < 0 ? url : url.slice(0, query))
  return path.length > pathLengthMax ? `${path.slice(0, pathLengthMax)}…` : path
}

/** The size of the body that was sent, before its coding if it was streamed; 0 for a HEAD. */
export function bodyBytes({ method, reply }: HttpRequest): number {
  if (method === 'HEAD') return 0
  return reply.streamedBytes ?? Number(reply.getHeader('content-length') ?? 0)
}

function streamOf(logger: Logger): DestinationStream {
  return (logger as unknown as Record<symbol, DestinationStream>)[
    symbols.streamSym
  ] as DestinationStream
}

/**
 * Decides which lines are logged, and counts those that are not.
 *
 * @param linesMax is the maximum number of lines per second.
 * @param onOmitted is called for each omitted line.
 * @param clock returns milliseconds and never goes backwards.
 */
export function createLineLimit(
  linesMax: number,
  onOmitted: () => void = () => undefined,
  clock = () => performance.now(),
) {
  let secondEndsAt = 0
  let lines = 0
  let omitted = 0
  const limit = {
    /** Whether a line may be logged now; if not, it is counted as omitted. */
    allows(): boolean {
      const now = clock()
      if (now >= secondEndsAt) {
        secondEndsAt = now + 1_000
        lines = 0
      }
      lines += 1
      if (lines <= linesMax) return true
      omitted += 1
      onOmitted()
      return false
    },
    /** The number of lines omitted since the last call. */
    takeOmitted(): number {
      const taken = omitted
      omitted = 0
      return taken
    },
    /** What a line that may be logged now reports about omitted ones; undefined if it may not. */
    next(): { readonly suppressed?: number } | undefined {
      if (!limit.allows()) return undefined
      const suppressed = limit.takeOmitted()
      return suppressed > 0 ? { suppressed } : {}
    },
  }
  return limit
}
