// Content codings: which one a client gets, and the coded bytes.

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import Negotiator from 'negotiator'

/** The codings that we can answer with, the one that we prefer first. */
const codings = ['zstd', 'br', 'gzip', 'identity'] as const
export type Coding = (typeof codings)[number]

/** What negotiator 1 takes; its published types are of version 0. */
interface PreferringNegotiator {
  encodings(available: string[], options: { preferred: string[] }): string[]
}

/** Below this size, in bytes, coding costs more than it saves. */
const compressBytesMin = 1_024

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)
const zstdAsync = promisify(zstdCompress)

/** The coding for an Accept-Encoding field (RFC 9110 section 12.5.3). */
export function chooseCoding(field: string | undefined): Coding {
  if (field === undefined || field === '' || field === 'identity') return 'identity'
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': field } })
  const [best] = negotiator.encodings([...codings], { preferred: [...codings] })
  return (best as Coding | undefined) ?? 'identity'
}

/** Whether a body of this size is worth the coding. */
export function isWorthCoding(body: Uint8Array): boolean {
  return body.length >= compressBytesMin
}

/** The body in a coding; on the thread pool, at levels that a server can afford for each miss. */
export async function encode(body: Buffer, coding: Coding): Promise<Buffer> {
  switch (coding) {
    case 'gzip':
      return gzipAsync(body, { level: 4 })
    case 'br':
      return brotliAsync(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 4,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })
    case 'zstd':
      return zstdAsync(body)
    case 'identity':
      return body
  }
}

/** Says that an answer depends on Accept-Encoding, beside what has been said before. */
export function varyByCoding(reply: FastifyReply): FastifyReply {
  const known = reply.getHeader('vary')
  return reply.header(
    'vary',
    known === undefined ? 'Accept-Encoding' : `${String(known)}, Accept-Encoding`,
  )
}
