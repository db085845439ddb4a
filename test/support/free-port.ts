// Ports of this machine.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** One that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  assert.ok(typeof address === 'object' && address)
  return address.port
}

/** Has a server listen until the test ends; returns its port. */
export async function openPort(
  t: { after(work: () => void): void },
  server: Server,
): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void server.close())
  return (server.address() as AddressInfo).port
}
