// What remains of an export if nothing is read from a store: a file of NDJSON is hashed, compressed
// with zstd, hashed again and written. Arguments: the file, and the one to write.

import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'

const [from = '', to = ''] = process.argv.slice(2)

const hashed = (hash: Hash) =>
  async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      hash.update(piece)
      yield piece
    }
  }

await pipeline(
  createReadStream(from, { highWaterMark: 1 << 18 }),
  hashed(createHash('sha256')),
  createZstdCompress(),
  hashed(createHash('sha256')),
  createWriteStream(to, { flush: true }),
)
