// Writes many rows by COPY in its binary format, which takes bytes as they are.
// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"

import { once } from 'node:events'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** A value as the server reads it; null for null. */
export type Field = Uint8Array | null

/** The bytes that are sent at once, unless one row has more. */
const pieceBytes = 1_048_576

const signature = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
/** The signature; no flags, and no further header. */
const header = Buffer.concat([signature, Buffer.alloc(8)])
const trailer = Buffer.from([0xff, 0xff])

/** @param target the table and its columns. The session does nothing else meanwhile. */
export async function copyRows(
  client: Client,
  target: string,
  rows: Iterable<readonly Field[]>,
): Promise<void> {
  const stream = client.query(copyFrom(`copy ${target} from stdin (format binary)`))
  // Also after this function has failed for another reason.
  stream.on('error', () => undefined)
  const failed = watchFaults(client)
  try {
    const finished = once(stream, 'finish')
    finished.catch(() => undefined)
    for (const piece of encodeRows(rows)) {
      if (!stream.write(piece)) await Promise.race([once(stream, 'drain'), finished, failed.error])
    }
    stream.end()
    await Promise.race([finished, failed.error])
  } finally {
    failed.ignore()
  }
}

/** The COPY would wait forever for a server that is gone. */
function watchFaults(client: Client) {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const onEnd = () => reject(new Error('Connection terminated unexpectedly'))
  client.once('error', reject)
  client.once('end', onEnd)
  return {
    error: promise,
    ignore(): void {
      client.off('error', reject)
      client.off('end', onEnd)
    },
  }
}

/** The pieces of a COPY, from its header to its end. */
export function* encodeRows(rows: Iterable<readonly Field[]>): Generator<Buffer> {
  let some: (readonly Field[])[] = []
  let bytes = 0
  yield header
  for (const row of rows) {
    some.push(row)
    bytes += bytesOf(row)
    if (bytes < pieceBytes) continue
    yield encodePiece(some, bytes)
    some = []
    bytes = 0
  }
  yield Buffer.concat([encodePiece(some, bytes), trailer])
}

function bytesOf(row: readonly Field[]): number {
  let bytes = 2
  for (const field of row) bytes += 4 + (field?.length ?? 0)
  return bytes
}

function encodePiece(rows: readonly (readonly Field[])[], bytes: number): Buffer {
  const piece = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const row of rows) {
    at = piece.writeInt16BE(row.length, at)
    for (const field of row) {
      at = piece.writeInt32BE(field?.length ?? -1, at)
      if (field === null) continue
      piece.set(field, at)
      at += field.length
    }
  }
  return piece
}

export function integer(value: number): Field {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** Up to 2^53, as all our numbers are. */
export function bigint(value: number): Field {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeInt32BE(Math.floor(value / 2 ** 32))
  bytes.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, 4)
  return bytes
}

export function text(value: string | null): Field {
  return value === null ? null : Buffer.from(value)
}
