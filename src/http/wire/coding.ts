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

/** How hard each coding tries; a higher level takes longer and makes less. */
type Levels = Readonly<Record<Exclude<Coding, 'identity'>, number>>

/** Levels that a server can afford for each page that is not in the cache. */
const levelsForEach: Levels = { gzip: 4, br: 4, zstd: 3 }

/** Levels for a body that is compressed once: 1.7 MB of script in 0.1 to 0.2 s. */
export const levelsForOnce: Levels = { gzip: 9, br: 9, zstd: 9 }

/** The body in a coding; on the thread pool. */
export async function encode(
  body: Buffer,
  coding: Coding,
  levels: Levels = levelsForEach,
): Promise<Buffer> {
  switch (coding) {
    case 'gzip':
      return gzipAsync(body, { level: levels.gzip })
    case 'br':
      return brotliAsync(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: levels.br,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })
    case 'zstd':
      return zstdAsync(body, { params: { [constants.ZSTD_c_compressionLevel]: levels.zstd } })
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
