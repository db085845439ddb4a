// Connections of the fuzzer, without an HTTP client: it sends bytes and parses responses.

import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'

/** How long a response may take before the server counts as hung; generous for a busy machine. */
const timeoutMs = 30_000

const openingBrace = 0x7b

/** A response; `text` is its decompressed body. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** A violation of HTTP by the server, or a missing response. */
export class WireFault extends Error {
  override readonly name = 'WireFault'
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
}

/**
 * Parses the first response in `bytes`; returns it with its length, or undefined if it is not
 * complete yet.
 *
 * @param isBare says whether the response has no body, as one to HEAD.
 * @throws WireFault if it is not an HTTP/1.1 response with a length.
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

/** A client that sends one request at a time. */
export interface Client {
  /** @throws WireFault if there is no response, or an invalid one. */
  ask(request: Buffer, method: string): Promise<Received>
  close(): void
}

/** Creates a client that keeps its connection as long as the server does, then opens another. */
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
          // The response to a request that the parser refused has a body even for HEAD.
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
    const timer = setTimeout(() => fail('no answer in time'), timeoutMs)
    used.on('data', onData).once('close', onClose)
    used.write(request)
    return answered.promise.finally(() => {
      clearTimeout(timer)
      used.off('data', onData).off('close', onClose)
    })
  }

  function open(): Socket {
    const opened = connect({ port, host: '127.0.0.1', noDelay: true })
    // The server may close while we still write; its response before that counts.
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
 * Sends bytes on a new connection, ends it, and returns everything received.
 *
 * @throws WireFault if the server does not close in time.
 */
export function exchangeOnce(port: number, bytes: Buffer): Promise<Buffer> {
  connections += 1
  // A closed connection keeps its port for a minute; each loopback address has its own ports.
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
  }, timeoutMs)
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // A server that closes while we are still sending resets the connection.
    if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') done.reject(error)
  })
  socket.on('close', () => done.resolve(Buffer.concat(chunks)))
  socket.end(bytes)
  return done.promise.finally(() => clearTimeout(timer))
}

/** Formats bytes for a message, cut short. */
export function show(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 1_500))
}
