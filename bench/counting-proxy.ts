// A TCP proxy that counts the bytes that pass it, in both directions.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CountingProxy {
  readonly port: number
  /** How many bytes have passed so far. */
  readonly bytes: () => number
  /** Ends it, and its connections. */
  readonly stop: () => void
}

/** Starts a proxy before a port of this machine. */
export async function startCountingProxy(target: number): Promise<CountingProxy> {
  let bytes = 0
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const server = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => (bytes += chunk.length))
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    bytes: () => bytes,
    stop() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
