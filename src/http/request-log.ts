// One line a request, and the cause of each fault under the same id. No key is in any of them.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, symbols } from 'pino'
import { withoutKeys } from '../redact.ts'
import { createLineLimit } from './line-limit.ts'

/** What is said and counted of an answer that has been sent. */
export interface Answer {
  readonly status: number
  /** From the request to the end of its answer, in milliseconds. */
  readonly ms: number
  /** Of the body. */
  readonly bytes: number
}

/** Logs requests. */
export interface RequestLog {
  /** Logs an answered request. The query stays out: a mistaken client puts its key there. */
  answered(request: FastifyRequest, answer: Answer): void
  /** Logs what went wrong inside, which the client is not told. */
  fault(request: FastifyRequest, cause: unknown): void
  /** Tells how many requests have been passed over. */
  close(): void
}

/** How many lines a second are logged of requests without a good key. */
export const keylessLinesMax = 100
/** How long after the first that is passed over their number is logged. */
const summaryMs = 1_000
/** The most of a path that is logged: in characters, and as JSON, where one may take several. */
const pathLengthMax = 1_000
const pathJsonLengthMax = 2_000
const oddPathLengthMax = 300

/**
 * Makes the log of requests. Each request with a valid key gets a line. Of those without one, the
 * first hundred each second get a line and the rest are counted, so that clients without a key
 * cannot fill the disk.
 *
 * @param onPassedOver is called for each line that is not logged.
 */
export function createRequestLog(logger: Logger, onPassedOver?: () => void): RequestLog {
  const keyless = createLineLimit(keylessLinesMax, onPassedOver)
  let timer: NodeJS.Timeout | undefined

  function summarize(): void {
    clearTimeout(timer)
    timer = undefined
    const count = keyless.takePassedOver()
    if (count > 0) {
      logger.info(
        { passed_over: count },
        'requests without a valid key that have no line of their own',
      )
    }
  }

  function isLogged({ key }: FastifyRequest): boolean {
    if (key !== undefined || keyless.allows()) return true
    timer ??= setTimeout(summarize, summaryMs).unref()
    return false
  }

  return {
    answered(request, answer) {
      if (logger.isLevelEnabled('info') && isLogged(request)) writeLine(logger, request, answer)
    },
    fault(request, cause) {
      if (!isLogged(request)) return
      logger.error({ request_id: request.id, err: cause }, 'the request could not be answered')
    },
    close: summarize,
  }
}

/**
 * The line is put together here and handed to the logger's stream, since this runs for every
 * request: 1 us, where the logger's own way takes 5. Ids and methods need no quoting.
 */
function writeLine(logger: Logger, request: FastifyRequest, answer: Answer): void {
  const { id, method, url, key } = request
  const ms = Math.round(answer.ms * 1_000) / 1_000
  const scope = request.routeOptions.config.endpoint?.scope
  const listing = scope === undefined ? '' : `,"resource":"${scope}"`
  const name = key === undefined ? '' : `,"key":${JSON.stringify(key.name)}`
  streamOf(logger).write(
    `{"level":30,"time":${Date.now()},"request_id":"${id}","method":"${method}",` +
      `"path":${pathJson(url)},` +
      `"status":${answer.status},"ms":${ms},"bytes":${answer.bytes}${listing}${name}}\n`,
  )
}

/** A path as JSON, without keys, and cut where it is long. */
function pathJson(url: string): string {
  const query = url.indexOf('?')
  // Before it is cut: a piece of a key may be too short to be seen for one.
  const path = withoutKeys(query < 0 ? url : url.slice(0, query))
  const json = JSON.stringify(cut(path, pathLengthMax))
  return json.length <= pathJsonLengthMax ? json : JSON.stringify(cut(path, oddPathLengthMax))
}

function cut(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}

/** The bytes of the body that was sent; a HEAD names the length of one that is not. */
export function bodyBytes({ method }: FastifyRequest, reply: FastifyReply): number {
  return method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0)
}

function streamOf(logger: Logger): DestinationStream {
  return (logger as unknown as Record<symbol, DestinationStream>)[
    symbols.streamSym
  ] as DestinationStream
}
