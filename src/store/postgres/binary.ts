// Results and COPY in binary form, which carries bytes unchanged.
//
// The driver asks the server for binary results (`binary: true`), but then decodes every column as
// UTF-8, which corrupts other bytes; so rows bypass its parser.
// https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"

import { EventEmitter, once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Client, type ClientConfig, type QueryArrayConfig, types } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { createWriter } from '../listing/bytes.ts'

/** A query whose rows are arrays, sent in binary form. With parameters, as the driver needs it. */
export interface BinaryQuery extends QueryArrayConfig<unknown[]> {
  readonly binary: true
}

/** The part of the driver's connection that its types leave out. */
interface DriverConnection extends EventEmitter {
  attachListeners(stream: EventEmitter): void
}

/** Makes a client that returns the columns of binary results as bytes. */
export function createClient(config: ClientConfig): Client {
  const client = new Client(config)
  const { connection } = client as unknown as { readonly connection: DriverConnection }
  const attachListeners = connection.attachListeners.bind(connection)
  connection.attachListeners = (stream) => {
    attachListeners(withoutBinaryRows(stream, connection))
  }
  return client
}

const dataRow = 'D'.charCodeAt(0)
const headerLength = 5

/**
 * Passes the server's messages to the driver's parser, except for rows of binary results, which it
 * emits on the connection as the driver would.
 */
function withoutBinaryRows(stream: EventEmitter, connection: DriverConnection): EventEmitter {
  const others = new EventEmitter()
  let isBinary = false
  /** What has arrived after the last complete message. */
  let kept: Buffer[] = []
  let keptBytes = 0
  /** The bytes up to the end of the first message that was kept, if that is known. */
  let needed = 0
  connection.on('rowDescription', ({ fields }: { fields: readonly { format: string }[] }) => {
    isBinary = fields[0]?.format === 'binary'
  })

  /** Passes on complete messages, those of other kinds together; returns where the rest begins. */
  function handle(bytes: Buffer): number {
    let start = 0
    let at = 0
    needed = headerLength
    while (at + headerLength <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) {
        needed = end - at
        break
      }
      if (bytes[at] === dataRow) {
        // The columns of a row are known when the messages before it have been parsed.
        if (start < at) others.emit('data', bytes.subarray(start, at))
        start = isBinary ? end : at
        if (isBinary) connection.emit('dataRow', { name: 'dataRow', fields: fieldsOf(bytes, at) })
      }
      at = end
    }
    if (start < at) others.emit('data', bytes.subarray(start, at))
    return at
  }

  stream.on('data', (chunk: Buffer) => {
    kept.push(chunk)
    keptBytes += chunk.length
    if (keptBytes < needed) return
    const bytes = kept.length === 1 ? chunk : Buffer.concat(kept, keptBytes)
    const end = handle(bytes)
    kept = end === bytes.length ? [] : [bytes.subarray(end)]
    keptBytes = bytes.length - end
  })
  stream.on('end', () => others.emit('end'))
  return others
}

/** The columns of a row, parts of the bytes received; null for null. */
function fieldsOf(bytes: Buffer, message: number): (Buffer | null)[] {
  let at = message + headerLength
  const fields = new Array<Buffer | null>(bytes.readUInt16BE(at))
  at += 2
  for (let n = 0; n < fields.length; n++) {
    const length = bytes.readInt32BE(at)
    at += 4
    fields[n] = length < 0 ? null : bytes.subarray(at, at + length)
    if (length > 0) at += length
  }
  return fields
}

type Parse = (value: Buffer) => unknown

const parsers = new Map<number, Parse>([
  [types.builtins.BOOL, (value) => value[0] !== 0],
  [types.builtins.INT2, (value) => value.readInt16BE(0)],
  [types.builtins.INT4, (value) => value.readInt32BE(0)],
  // All integers that we store are below 2^53.
  [types.builtins.INT8, (value) => value.readInt32BE(0) * 2 ** 32 + value.readUInt32BE(4)],
  [types.builtins.FLOAT8, (value) => value.readDoubleBE(0)],
  [types.builtins.BYTEA, (value) => value],
  [types.builtins.TEXT, (value) => value.toString()],
  [types.builtins.VARCHAR, (value) => value.toString()],
])

/** The parser of a column of a binary result; it throws if the type has none. */
export function binaryParser(type: number): Parse {
  const unknown = () => {
    throw new Error(`no binary form of type ${type} is known`)
  }
  return parsers.get(type) ?? unknown
}

/** A value as the server reads it; null for null. */
export type Field = Uint8Array | null

/** How many bytes are sent at a time, unless one row has more. */
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
  // The COPY would wait forever for a server that is gone.
  const over = new AbortController()
  const lost = once(client, 'end', { signal: over.signal }).then(() => {
    throw new Error('Connection terminated unexpectedly')
  })
  try {
    await Promise.race([pipeline(encodeRows(rows), stream), lost])
  } finally {
    over.abort()
  }
}

/** The pieces of a COPY, from its header to its end. */
function* encodeRows(rows: Iterable<readonly Field[]>): Generator<Buffer> {
  const writer = createWriter()
  yield header
  for (const row of rows) {
    const start = writer.reserve(2)
    writer.memory().writeInt16BE(row.length, start)
    for (const field of row) {
      const at = writer.reserve(4 + (field?.length ?? 0))
      writer.memory().writeInt32BE(field?.length ?? -1, at)
      if (field !== null) writer.memory().set(field, at + 4)
    }
    if (writer.reserve(0) >= pieceBytes) yield writer.take()
  }
  yield writer.take()
  yield trailer
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
