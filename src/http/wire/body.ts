// The body of a GET request (contract 1.2 and 1.6): rare, small, and read only if there is one.
//
// Clients that follow our documents send `Content-Type: application/json` without a body, which
// must cost nothing.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { doubledMember } from '../../text/member-scan.ts'
import { isNestedTooDeep, nestingMax } from '../../text/nested-json.ts'
import { isWellFormed } from '../../text/well-formed.ts'
import { badRequest, bodyBytesMax, invalid, statusError } from '../errors.ts'

/** With any parameters: JSON defines none (RFC 8259 section 11). */
const jsonType = /^application\/json\s*(;|$)/i
const otherCharset = /;\s*charset\s*=(?!\s*"?utf-8"?\s*(;|$))/i

/**
 * Reads the JSON object in a request's body; undefined for an empty body.
 *
 * @throws ApiError 415 for another type or an encoding, 413 over 16 KiB, 400 for anything but a
 *   JSON object in UTF-8, for a member given twice, and for half of a surrogate pair.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { headers } = request
  if (Number(headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge()
  // The client waits for a 100; the request is accepted only now.
  if (headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
  const bytes = await readBytes(request)
  if (bytes.length === 0) return undefined
  const type = headers['content-type'] ?? ''
  if (!jsonType.test(type) || otherCharset.test(type)) throw statusError(415)
  const coding = headers['content-encoding'] ?? 'identity'
  if (coding.toLowerCase() !== 'identity') throw statusError(415)
  return parseObject(bytes)
}

function tooLarge() {
  // The rest of the body is not read, so the connection cannot be reused.
  return statusError(413, { headers: { connection: 'close' } })
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += (chunk as Buffer).length
      if (length > bodyBytesMax) break
      chunks.push(chunk as Buffer)
    }
  } catch {
    // The client has disconnected; this is not a fault of ours to log.
    throw badRequest('The body is incomplete')
  }
  if (length > bodyBytesMax) throw tooLarge()
  return Buffer.concat(chunks)
}

function parseObject(bytes: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    value = JSON.parse(text, keepAsWritten)
  } catch {
    const isDeep = isNestedTooDeep(bytes.toString())
    const fault = isDeep ? `is nested deeper than ${nestingMax} levels` : 'is not valid JSON'
    throw badRequest(`The body ${fault}; send a JSON object, or no body`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('The body is not a JSON object; send an object, or no body')
  }
  // The parser keeps the last one silently, others the first.
  const doubled = doubledMember(bytes)
  if (doubled !== undefined) {
    const name = JSON.stringify(doubled.slice(0, 60).toWellFormed())
    throw badRequest(`The body has ${name} twice; give it once`)
  }
  const members = value as Readonly<Record<string, unknown>>
  for (const [name, member] of Object.entries(members)) {
    if (!isWellFormed([name, member])) {
      throw invalid(
        name.toWellFormed(),
        member,
        'it takes Unicode text, without half a surrogate pair',
      )
    }
  }
  return members
}

/** Missing from the types of JSON. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => object }

/**
 * Keeps a member's number that is not plain digits, such as 1e2, or is not exact as it is written:
 * no parameter takes that, and a message can quote it (contract 1.3).
 */
function keepAsWritten(name: string, value: unknown, written?: { readonly source?: string }) {
  const { source = '' } = written ?? {}
  const isOther = typeof value === 'number' && String(value) !== source && name !== ''
  return isOther ? rawJSON(source) : value
}
