// Results and lists in binary form, which carries bytes unchanged.
//
// The driver asks the server for binary results (`binary: true`), but then decodes every column as
// UTF-8, which corrupts other bytes; so rows bypass its parser.

import { EventEmitter } from 'node:events'
import { Socket } from 'node:net'
import { Client, type ClientConfig, type QueryArrayConfig, types } from 'pg'

/** A query whose rows are arrays, sent in binary form. With parameters, as the driver needs it. */
export interface BinaryQuery extends QueryArrayConfig<unknown[]> {
  readonly binary: true
}

/** The part of the driver's connection that its types leave out. */
interface DriverConnection extends EventEmitter {
  attachListeners(stream: EventEmitter): void
}

type Receive = (bytes: Buffer) => void

/**
 * Makes a client that returns the columns of binary results as bytes. It cannot COPY TO, which
 * would read the socket itself.
 */
export function createClient(config: ClientConfig): Client {
  let receive: Receive | undefined
  // A socket that TLS takes over cannot have memory of its own choice.
  const stream = ({ ssl }: ClientConfig) =>
    ssl ? new Socket() : receivingSocket((bytes) => receive?.(bytes))
  const client = new Client({ stream: stream as () => Socket, ...config })
  const { connection } = client as unknown as { readonly connection: DriverConnection }
  const attachListeners = connection.attachListeners.bind(connection)
  connection.attachListeners = (stream) => {
    const others = new EventEmitter()
    attachListeners(others)
    receive = createReceiver(connection, others)
    stream.on('data', receive)
    stream.on('end', () => others.emit('end'))
  }
  return client
}

/**
 * What arrives on any socket, until that has called for it, which is immediately. New memory for
 * each piece would be left to the garbage collector, and cost a page of 38 kB 100 us.
 */
const received = Buffer.allocUnsafeSlow(65_536)

/** A socket that emits no data, but calls for it; the bytes are overwritten after the call. */
function receivingSocket(receive: Receive): Socket {
  const callback = (bytes: number) => {
    receive(received.subarray(0, bytes))
    return true
  }
  const options = { onread: { buffer: received, callback } }
  return new Socket(options)
}

const dataRow = 'D'.charCodeAt(0)
const headerLength = 5

/**
 * Passes the server's messages to the driver's parser, except for rows of binary results, which it
 * emits on the connection as the driver would. It keeps none of the bytes that it is called with.
 */
function createReceiver(connection: DriverConnection, others: EventEmitter): Receive {
  let isBinary = false
  connection.on('rowDescription', ({ fields }: { fields: readonly { format: string }[] }) => {
    isBinary = fields[0]?.format === 'binary'
  })
  const pass = (message: Buffer) => {
    if (message[0] !== dataRow || !isBinary) others.emit('data', message)
    else connection.emit('dataRow', { name: 'dataRow', fields: fieldsOf(message) })
  }

  /** Memory of the message that is arriving, or at first of its header; and what it has of it. */
  let message: Buffer | undefined
  let filled = 0
  return (bytes) => {
    for (let at = 0; at < bytes.length;) {
      message ??= allocate(lengthOf(bytes, at))
      const count = bytes.copy(message, filled, at)
      ;[at, filled] = [at + count, filled + count]
      if (filled < message.length) return
      const part = message
      const length = lengthOf(part, 0)
      message = length > filled ? allocate(length) : undefined
      if (message !== undefined) part.copy(message)
      else {
        filled = 0
        pass(part)
      }
    }
  }
}

/** The length of a message; of its header, as long as that is not complete. */
function lengthOf(bytes: Buffer, at: number): number {
  return bytes.length - at < headerLength ? headerLength : 1 + bytes.readUInt32BE(at + 1)
}

/** Larger messages have memory of their own, smaller ones share what Node makes for several. */
const sharedMax = 4_096

/** Memory of messages that share it with no other. */
const own = new WeakSet<ArrayBufferLike>()

function allocate(length: number): Buffer {
  if (length <= sharedMax) return Buffer.allocUnsafe(length)
  const memory = Buffer.allocUnsafeSlow(length)
  own.add(memory.buffer)
  return memory
}

/** Frees the memory of columns of bytes, along with that of their rows, if it is not shared. */
export function freeRows(columns: readonly Uint8Array[]): void {
  for (const { buffer } of columns) {
    // Several columns may be of one row.
    if (own.delete(buffer)) (buffer as ArrayBuffer).transfer(0)
  }
}

/** The columns of a row, parts of its message; null for null. */
function fieldsOf(row: Buffer): (Buffer | null)[] {
  let at = headerLength
  const fields = new Array<Buffer | null>(row.readUInt16BE(at))
  at += 2
  for (let n = 0; n < fields.length; n++) {
    const length = row.readInt32BE(at)
    at += 4
    fields[n] = length < 0 ? null : row.subarray(at, at + length)
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

/**
 * A list of texts or bytes in binary form: the driver would send bytes as twice as many digits.
 *
 * @param type of the elements.
 */
export function binaryList(type: number, values: readonly (string | Uint8Array | null)[]): Buffer {
  const elements = values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value))
  const bytes = elements.reduce((sum, one) => sum + 4 + (one?.length ?? 0), 20)
  const list = Buffer.allocUnsafe(bytes)
  let at = 0
  // One dimension, perhaps with nulls, counted from 1.
  for (const value of [1, 1, type, values.length, 1]) at = list.writeInt32BE(value, at)
  for (const one of elements) {
    at = list.writeInt32BE(one?.length ?? -1, at)
    if (one !== null) list.set(one, at)
    at += one?.length ?? 0
  }
  return list
}
