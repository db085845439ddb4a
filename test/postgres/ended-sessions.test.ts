// A session that PostgreSQL ends as soon as it has begun: a sentence, not a crash.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { openSession } from '../../src/store/postgres/connect.ts'

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), length, content])
}

test('a session that is ended in the packet that begins it fails its next statement', async (t) => {
  const begins = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]
  const ends = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([...begins, ends])))
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const session = await openSession(`postgres://nobody@127.0.0.1:${port}/none?sslmode=disable`)
  await assert.rejects(session.query('select 1'), /terminat|not queryable/i)
})
