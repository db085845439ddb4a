// A TCP proxy in front of PostgreSQL that cuts the connection on which a COMMIT is sent.

import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { openPort } from './free-port.ts'

/** The messages that still get through once COMMIT has been sent. */
export type Cut =
  /** The server commits, and its answer is lost. */
  | 'answer lost'
  /** COMMIT itself is lost, and both sides see the connection close. */
  | 'commit lost'

interface CutOptions {
  /** Runs between the client's COMMIT and the cut. */
  readonly first?: () => Promise<void>
}

export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>

// A simple query, as the driver sends one: its type, its length, its text, and a zero.
const commitMessage = Buffer.from('Q\0\0\0\x0bcommit\0', 'latin1')

/** Starts a proxy before `url`; it ends with the test. */
export async function startCuttingProxy(t: TestContext, url: string) {
  const { hostname, port } = new URL(url)
  let next: Cut | undefined
  let options: CutOptions = {}
  let hasCut = false
  const sockets = new Set<Socket>()

  const listener = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    server.on('data', (chunk: Buffer) => client.write(chunk))
    server.on('close', () => client.destroy())
    client.on('close', () => server.destroy())
    client.on('data', (chunk: Buffer) => {
      if (next === undefined || !chunk.includes(commitMessage)) return void server.write(chunk)
      const cut = next
      next = undefined
      hasCut = true
      server.removeAllListeners('data')
      // What runs first may end the server; the client learns of that at the cut.
      if (options.first !== undefined) server.removeAllListeners('close')
      const first = options.first?.() ?? Promise.resolve()
      void first.then(() => cutAt(cut, client, server, chunk))
    })
  })
  const through = new URL(url)
  through.port = String(await openPort(t, listener))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return {
    /** The URL that leads through it. */
    url: through.href,
    /** Cuts the next connection that commits. */
    cutNext: (cut: Cut, given: CutOptions = {}): void => {
      ;[next, options, hasCut] = [cut, given, false]
    },
    /** Whether it has cut one. */
    hasCut: () => hasCut,
  }
}

function cutAt(cut: Cut, client: Socket, server: Socket, commit: Buffer): void {
  if (cut === 'answer lost') {
    server.once('data', () => client.destroy())
    server.write(commit)
  } else client.destroy()
}
