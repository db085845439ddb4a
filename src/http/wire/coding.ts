// Content codings: which one a client gets, and the coded bytes.

import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib'
import type { HttpReply } from './exchange.ts'
import Negotiator from 'negotiator'

/** The codings of our responses, in order of preference. */
const codings = ['zstd', 'br', 'gzip', 'identity'] as const
export type Coding = (typeof codings)[number]

/** The options of negotiator 1; the published types are those of version 0. */
interface PreferringNegotiator {
  encodings(available: string[], options: { preferred: string[] }): string[]
}

/** Below this size, in bytes, compression costs more than it saves. */
const compressBytesMin = 1_024

const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)
const zstdAsync = promisify(zstdCompress)

/** Chooses the coding for an Accept-Encoding field (RFC 9110 section 12.5.3). */
export function chooseCoding(field: string | undefined): Coding {
  if (field === undefined || field === '' || field === 'identity') return 'identity'
  // Clients that send `*` do not decode every coding, so only those that they name are considered.
  const words = field.toLowerCase()
  const named = codings.filter((coding) => coding === 'identity' || words.includes(coding))
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': field } })
  const [best] = negotiator.encodings(named, { preferred: named })
  return (best as Coding | undefined) ?? 'identity'
}

/** Whether a body is large enough to be worth compressing. */
export function isWorthCoding(body: Uint8Array): boolean {
  return body.length >= compressBytesMin
}

/** Compression levels; a higher one takes longer and yields fewer bytes. */
type Levels = Readonly<Record<Exclude<Coding, 'identity'>, number>>

/** Levels for pages, which are compressed whenever they are not in the cache. */
const levelsForEach: Levels = { gzip: 4, br: 4, zstd: 3 }

/** Levels for a body that is compressed once: 1.7 MB of script in 0.1 to 0.2 s. */
export const levelsForOnce: Levels = { gzip: 9, br: 9, zstd: 9 }

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, ZSTD_c_compressionLevel } = constants

/** Encodes a body, on the thread pool. */
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
        params: { [BROTLI_PARAM_QUALITY]: levels.br, [BROTLI_PARAM_SIZE_HINT]: body.length },
      })
    case 'zstd':
      return zstdAsync(body, { params: { [ZSTD_c_compressionLevel]: levels.zstd } })
    case 'identity':
      return body
  }
}

/** Encodes a body as it comes, on the thread pool; undefined for no coding. */
export function createEncoder(coding: Coding): Transform | undefined {
  const { gzip, br, zstd } = levelsForEach
  switch (coding) {
    case 'gzip':
      return createGzip({ level: gzip })
    case 'br':
      return createBrotliCompress({ params: { [BROTLI_PARAM_QUALITY]: br } })
    case 'zstd':
      return createZstdCompress({ params: { [ZSTD_c_compressionLevel]: zstd } })
    case 'identity':
      return undefined
  }
}

/** Adds fields of the request, such as Accept-Encoding, to the Vary header of a response. */
export function varyBy(reply: HttpReply, fields: string): HttpReply {
  const known = reply.getHeader('vary')
  return reply.header('vary', known === undefined ? fields : `${String(known)}, ${fields}`)
}
