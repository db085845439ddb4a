// Requests that Node's parser accepts, although they are not valid HTTP/1.1.

import type { IncomingMessage } from 'node:http'
import { type ApiError, badRequest, headersMax, statusError } from '../errors.ts'
import { METHODS } from './node-http.ts'

const closing = { headers: { connection: 'close' } }
const methods: ReadonlySet<string> = new Set(METHODS)
/** A fragment is not a part of a target (RFC 9112 section 3.2). */
const targetPattern = /^[\x21\x22\x24-\x7e]+$/
/** `uri-host [":" port]`, which may be empty (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const hostPattern = /^(?:\[[0-9a-fv.:]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/**
 * The error for a request that is not valid HTTP/1.0 or 1.1; undefined for a valid one. It runs
 * before everything else, including authentication: 100 to 200 ns.
 */
export function findWireFault(request: IncomingMessage): ApiError | undefined {
  const { httpVersion, method = '', url, rawHeaders } = request
  // The parser takes methods of HTTP/2 and RTSP, such as PRI and PLAY.
  if (!methods.has(method)) return fault('The request is not valid HTTP/1.1')
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return findVersionFault(httpVersion)
  if (rawHeaders.length > headersMax * 2) return statusError(431, closing)
  if (!targetPattern.test(url ?? '')) return fault('The target has a character that is not allowed')
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Most names differ from all of these in length, which avoids lower-casing them.
    if (name.length === 4 && isNamed(name, 'host')) {
      if (!hostPattern.test(rawHeaders[at + 1] ?? '')) return fault('The Host is not valid')
      hosts += 1
    } else if (name.length === 13 && isNamed(name, 'authorization')) authorizations += 1
    else if (name.length === 17 && isNamed(name, 'transfer-encoding')) {
      if (!isChunked(rawHeaders[at + 1]) || httpVersion === '1.0') {
        return fault('Transfer-Encoding must be chunked, or absent')
      }
    }
  }
  // RFC 9112 section 3.2.
  if (hosts === 0 && httpVersion === '1.1') return fault('The request has no Host')
  if (hosts > 1) return fault('The request has more than one Host')
  if (authorizations > 1) return fault('The request has more than one Authorization')
  // RFC 9110 section 10.1.1; HTTP/1.0 knows no expectations.
  const { expect } = request.headers
  const isMet = expect === undefined || httpVersion === '1.0' || /^100-continue$/i.test(expect)
  return isMet ? undefined : statusError(417, closing)
}

/** Node parses `GET /x` without a version as HTTP/0.9; HTTP/2.0 has a different form. */
function findVersionFault(httpVersion: string): ApiError {
  return httpVersion === '0.9' ? fault('The request has no version') : statusError(505, closing)
}

function fault(message: string): ApiError {
  return badRequest(message, closing)
}

function isNamed(given: string, name: string): boolean {
  return given === name || given.toLowerCase() === name
}

/** RFC 9112 section 6.1: any other coding, or a second one, is refused. */
function isChunked(coding: string | undefined): boolean {
  return coding?.toLowerCase() === 'chunked'
}
