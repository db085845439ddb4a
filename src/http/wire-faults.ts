// What the HTTP parser lets through and we do not. Two readers of one request (a proxy and this
// server) must never see two different requests in it, so whatever can be read in two ways is
// refused, and its connection closed.

import type { IncomingMessage } from 'node:http'
import { type ApiError, badRequest, statusError } from './errors.ts'

/** The most header fields of a request. */
export const headersMax = 100

const closing = { connection: 'close' }
const targetPattern = /^[\x21-\x7e]+$/
/** `uri-host [":" port]`, which may be empty (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const hostPattern = /^(?:\[[0-9a-fv.:]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/**
 * The refusal of a request that is not sound HTTP/1.0 or 1.1; undefined for a sound one. It stands
 * before everything else, the look at the key included: 100 to 200 ns.
 */
export function findWireFault(request: IncomingMessage): ApiError | undefined {
  const { httpVersion, url, rawHeaders } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return findVersionFault(httpVersion)
  if (rawHeaders.length > headersMax * 2) return statusError(431, closing)
  if (!targetPattern.test(url ?? '')) return fault('The target has a character that it may not')
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Most names differ in length from all of these; then their case need not be looked at.
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

/** `GET /x` without a version is read as HTTP/0.9; HTTP/2.0 has another form altogether. */
function findVersionFault(httpVersion: string): ApiError {
  return httpVersion === '0.9' ? fault('The request has no version') : statusError(505, closing)
}

function fault(message: string): ApiError {
  return badRequest(message, closing)
}

function isNamed(given: string, name: string): boolean {
  return given === name || given.toLowerCase() === name
}

/** RFC 9112 section 6.1: any other coding, and any second one, is refused. */
function isChunked(coding: string | undefined): boolean {
  return coding?.toLowerCase() === 'chunked'
}
