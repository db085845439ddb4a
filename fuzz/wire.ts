// Connections of a fuzzer, without an HTTP client in between: bytes in, answers out.

import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

/** How long an answer may take before the server is taken to hang; generous on a busy machine. */
const patienceMs = 30_000

const openingBrace = 0x7b

/** An answer as it came; `text` is its body, unpacked. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A breach of HTTP by the server, or its silence. */
export class WireFault extends Error {
  override readonly name = 'WireFault'
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
}

/**
 * The first answer in `bytes`, and what it takes of them; undefined where it is not whole yet.
 *
 * @param isBare whether there is no body, as there is none to HEAD.
 * @throws WireFault where it is no answer of HTTP/1.1 with a length.
 */
export function readAnswer(
  bytes: Buffer,
  isBare: (status: number, rest: Buffer) => boolean,
): { answer: Received; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [start = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) [A-Z][A-Za-z -]+$/.exec(start)?.[1] ?? NaN)
  if (Number.isNaN(status)) throw new WireFault(`no status line: ${JSON.stringify(start)}`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^([a-z0-9-]+): ([\x20-\x7e]*)$/i.exec(line) ?? []
    if (name === '') throw new WireFault(`no header field: ${JSON.stringify(line)}`)
    if (name.toLowerCase() in headers) throw new WireFault(`two fields: ${JSON.stringify(line)}`)
    headers[name.toLowerCase()] = value
  }
  const hasNone = status === 304 || status < 200 || isBare(status, bytes.subarray(end + 4))
  const size = hasNone ? 0 : Number(headers['content-length'] ?? NaN)
  if (Number.isNaN(size)) throw new WireFault(`an answer without length: ${lines.join('; ')}`)
  const length = end + 4 + size
  if (bytes.length < length) return undefined
  const body = bytes.subarray(end + 4, length)
  const decode = decoders[headers['content-encoding'] ?? '']
  const text = (size > 0 && decode ? decode(body) : body).toString('utf8')
  return { answer: { status, headers, text }, length }
}

/** A client that sends a request when it has the answer to the last one. */
export interface Client {
  /** @throws WireFault where no answer comes, or none that can be read. */
  ask(request: Buffer, method: string): Promise<Received>
  close(): void
}

/** Keeps its connection as long as the server does; then it takes another one. */
export function createClient(port: number): Client {
  let socket: Socket | undefined

  function ask(request: Buffer, method: string): Promise<Received> {
    const used = socket ?? open()
    const answered = Promise.withResolvers<Received>()
    let bytes: Buffer = Buffer.alloc(0)
    const fail = (why: string) => answered.reject(new WireFault(`${why}; came: ${show(bytes)}`))
    const onData = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      try {
        for (;;) {
          // What the parser refuses has a body whatever its method, which nobody has read.
          const found = readAnswer(
            bytes,
            (_, rest) => method === 'HEAD' && rest[0] !== openingBrace,
          )
          if (found === undefined) return
          bytes = bytes.subarray(found.length)
          if (found.answer.status === 100) continue
          if (bytes.length > 0) return fail(`more than one answer: ${found.answer.status}`)
          if (found.answer.headers['connection'] === 'close') forget(used)
          return answered.resolve(found.answer)
        }
      } catch (error) {
        answered.reject(error)
      }
    }
    const onClose = () => {
      forget(used)
      fail('closed without an answer')
    }
    const timer = setTimeout(() => fail('no answer in time'), patienceMs)
    used.on('data', onData).once('close', onClose)
    used.write(request)
    return answered.promise.finally(() => {
      clearTimeout(timer)
      used.off('data', onData).off('close', onClose)
    })
  }

  function open(): Socket {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true })
    // The server may close while we still write; what it said before that counts.
    opened.on('error', () => undefined)
    opened.on('close', () => forget(opened))
    socket = opened
    return opened
  }

  function forget(closed: Socket): void {
    if (socket === closed) socket = undefined
    closed.end()
  }

  return { ask, close: () => socket?.destroy() }
}

let connections = 0

/**
 * Sends bytes on a connection of their own, ends it, and gives all that came back.
 *
 * @throws WireFault where the server does not close in time.
 */
export function exchangeOnce(port: number, bytes: Buffer): Promise<Buffer> {
  connections += 1
  // A closed connection keeps its port for a minute; every address of Linux's loopback has its own.
  const localAddress = `127.0.0.${1 + (connections % 250)}`
  const socket = connect({
    port,
    host: '127.0.0.1',
    ...(process.platform === 'linux' ? { localAddress } : {}),
  })
  const chunks: Buffer[] = []
  const done = Promise.withResolvers<Buffer>()
  const timer = setTimeout(() => {
    socket.destroy()
    done.reject(new WireFault(`not closed in time; came: ${show(Buffer.concat(chunks))}`))
  }, patienceMs)
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // A server that closes while bytes of ours are under way resets the connection.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') done.reject(error)
  })
  socket.on('close', () => done.resolve(Buffer.concat(chunks)))
  socket.end(bytes)
  return done.promise.finally(() => clearTimeout(timer))
}

/** Bytes for a message, cut short. */
export function show(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 1_500))
}
