// A file that is compressed while it is written, and flushed to the disk at its end.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { PassThrough, type Transform } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { privateMode } from '../../files/new-file.ts'
import type { WrittenFile } from './manifest.ts'

/** @throws the system's error if it cannot be written; from then on, at every call. */
export function openCompressed(path: string) {
  // The encoder waits for this thread after each chunk.
  const encoder = createZstdCompress({ chunkSize: 1 << 18 })
  const digest = createHash('sha256')
  const hashing: Transform = new PassThrough()
  hashing.on('data', (piece: Buffer) => digest.update(piece))
  const file = createWriteStream(path, { flags: 'wx', mode: privateMode, flush: true })
  const written = pipeline(encoder, hashing, file)
  written.catch(() => undefined)
  let before: Promise<unknown> | undefined
  return {
    /** Waits for what was written before, so that it is compressed while more is read. */
    async write(content: Buffer): Promise<void> {
      await before
      if (encoder.write(content)) return
      // After a failure of the pipeline, it is never drained.
      before = Promise.race([once(encoder, 'drain'), written])
      before.catch(() => undefined)
    },
    /** @returns what was written. */
    async close(): Promise<WrittenFile> {
      encoder.end()
      await written
      await finished(file).catch(() => undefined)
      const { size: bytes } = statSync(path)
      return { name: basename(path), bytes, sha256: digest.digest('hex') }
    },
    /** Ends it, whatever has happened. */
    abandon: () => void encoder.destroy(),
  }
}
