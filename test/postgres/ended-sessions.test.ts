// Sessions that PostgreSQL ends, and those that a failed statement leaves: a sentence, not a crash,
// and no new session.

import assert from 'node:assert/strict'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { openSession, openSessions, withConnection } from '../../src/store/postgres/connect.ts'
import { createSnapshots, rowsIn } from '../../src/store/postgres/pool-rows.ts'
import { storeError } from '../../src/store/postgres/url.ts'
import { openPort } from '../support/free-port.ts'
import { poolFor, sessionFor } from '../support/sessions.ts'
import { onCitus, testServerUrl } from '../support/store-at.ts'
import { until } from '../support/until.ts'

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(type), length, content])
}

/** A server that answers as told. */
async function startServer(scope: TestContext, serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    serve(socket)
  })
  return `postgres://nobody@127.0.0.1:${await openPort(scope, server)}/none?sslmode=disable`
}

/** A server that ends each session in the packet that begins it. */
function startEndingServer(scope: TestContext): Promise<string> {
  const begins = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]
  const ends = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'))
  return startServer(scope, (socket) => {
    socket.once('data', () => socket.end(Buffer.concat([...begins, ends])))
  })
}

test('the server notices within a minute that the machine of a command is lost', async (t) => {
  const session = await sessionFor(t, testServerUrl())
  const settings = ['keepalives_idle', 'keepalives_interval', 'keepalives_count', 'user_timeout']
  const shown = settings.map((name) => `current_setting('tcp_${name}')`)
  const { rows } = await session.query({ text: `select ${shown.join()}`, rowMode: 'array' })
  assert.deepEqual(rows, [['30', '10', '3', '60000']])
})

test('a session that lacks a password is closed, not left to the server', async (t) => {
  // SASL, and the server's first message of it.
  const asks = ['\0\0\0\x0aSCRAM-SHA-256\0\0', '\0\0\0\x0br=x,s=x,i=1']
  const closed = Promise.withResolvers<unknown>()
  const url = await startServer(t, (socket) => {
    socket.on('data', () => socket.write(message('R', Buffer.from(asks.shift() ?? ''))))
    socket.on('close', closed.resolve)
    t.after(() => socket.destroy())
  })
  await assert.rejects(openSession(url), (error) => {
    assert.match(String(storeError(url, error)), /asks for a password; give it in --db, PGPASSWORD/)
    return true
  })
  await Promise.race([closed.promise, sleep(20_000).then(() => assert.fail('it is left open'))])
})

test('a limit for idle sessions, meant for others, ends none of ours', async (t) => {
  const url = testServerUrl('-c idle_session_timeout=1s')
  const session = await sessionFor(t, url)
  const pool = poolFor(t, url)
  const rows = rowsIn(pool, 'once')
  await rows('select 1')
  await sleep(2_000)
  assert.equal((await session.query('select 1')).rowCount, 1)
  assert.deepEqual(await rows<[number]>('select 7'), [[7]])
})

test('the operations of a command share a session until one fails, or it is lost', async (t) => {
  const sessions = openSessions(testServerUrl())
  t.after(() => sessions.end())
  const use = <T>(work: (client: Client) => Promise<T>) => withConnection(sessions, work)
  const readPid = async (client: Client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return rows[0]?.pid
  }
  const first = await use(readPid)
  assert.equal(await use(readPid), first)

  const fail = (client: Client) => client.query('begin').then(() => assert.fail('as told'))
  await assert.rejects(use(fail), /as told/)
  const second = await use(readPid)
  assert.notEqual(second, first)
  const session = await use((client) => Promise.resolve(client))

  const other = await sessionFor(t, testServerUrl())
  await other.query('select pg_terminate_backend($1::integer, 10000)', [second])
  await until(() => session.connection.stream.destroyed, 'the session is lost')
  const third = await use(readPid)
  assert.notEqual(third, second)

  const taken = await sessions.connect()
  assert.equal(await readPid(taken), third)
  assert.notEqual(await use(readPid), third, 'what is taken belongs to its taker')
  taken.release()
})

// PostgreSQL has it from version 17 on.
test('a limit for transactions, of requests, ends no command’s', { skip: onCitus }, async (t) => {
  const url = testServerUrl('-c transaction_timeout=1s')
  const session = await sessionFor(t, url)
  await session.query('begin')
  await sleep(2_000)
  assert.equal((await session.query('select 1')).rowCount, 1)
})

test('a session that is ended in the packet that begins it is an error', async (t) => {
  const url = await startEndingServer(t)
  await assert.rejects(openSession(url), /terminat|not queryable/i)
  const pool = poolFor(t, url)
  await assert.rejects(rowsIn(pool, 'once')('select 1'), /terminat|not queryable/i)
})

test('a pooler without sessions, and a certificate for another name, are reported', () => {
  const url = 'postgres://u:secret@10.0.0.1/registry'
  const says = (error: object) => String(storeError(url, Object.assign(new Error('x'), error)))
  const waited = { message: 'query_wait_timeout', severity: 'FATAL', code: '08P01' }
  assert.match(says(waited), /: query_wait_timeout; nothing was changed; .* limits of the pooler$/)
  const named = { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'IP: 10.0.0.1 is not in the list' }
  assert.match(says(named), /u@10.0.0.1\/registry: IP: 10.0.0.1 is not .*; correct .* in --db$/)
})

test('a session that is ended while it is idle, as during an import, says why', async (t) => {
  const session = await sessionFor(t, testServerUrl())
  const ended = new Promise<void>((done) => session.once('end', done))
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  const other = await sessionFor(t, testServerUrl())
  await other.query('select pg_terminate_backend($1::integer)', [rows[0]?.pid])
  await ended
  for (const sql of ['begin', 'select 1']) {
    await assert.rejects(session.query(sql), /terminating connection due to administrator command/)
  }
})

test('a default isolation, meant for others, is not ours', async (t) => {
  const url = testServerUrl('-c default_transaction_isolation=serializable')
  const session = await sessionFor(t, url)
  const pool = poolFor(t, url)
  for (const one of [session, pool]) {
    const { rows } = await one.query<{ ours: string }>(
      `select current_setting('transaction_isolation') as ours`,
    )
    assert.deepEqual(rows, [{ ours: 'read committed' }])
  }
})

/** A server that tells the severity of errors in another language. */
function startTranslation(t: TestContext): Promise<string> {
  const { hostname, port } = new URL(testServerUrl())
  return startServer(t, (socket) => {
    const server = connect(Number(port), hostname)
    server.on('error', () => undefined)
    server.on('data', (bytes) => {
      const told = bytes.toString('latin1').replace('SERROR\0', 'SFEHLE\0')
      socket.write(Buffer.from(told, 'latin1'))
    })
    socket.pipe(server)
    socket.on('close', () => server.destroy())
  })
}

test('a statement that fails leaves its session to the next one, in any language', async (t) => {
  const url = new URL(testServerUrl())
  url.port = new URL(await startTranslation(t)).port
  const pool = poolFor(t, url.href, { statementMs: 200 })
  const rows = rowsIn(pool, 'once')
  const pidOf = async () => (await rows<[number]>('select pg_backend_pid()'))[0]?.[0]
  const first = await pidOf()
  await assert.rejects(rows('select pg_sleep(10)'), /statement timeout/)
  await assert.rejects(rows('select 1 / (random() * 0)::integer'), /division by zero/)
  assert.equal(await pidOf(), first)
})

test('a session that is lost while a request reads says why, and is replaced', async (t) => {
  const pool = poolFor(t, testServerUrl())
  const change = () => assert.fail('no version is read')
  const snapshots = createSnapshots(pool, { change }, undefined)
  const endItself = 'select pg_terminate_backend(pg_backend_pid())'
  await assert.rejects(
    async () => snapshots.inSnapshot(async (snapshot) => snapshot.rows(endItself)),
    /terminating connection due to administrator command/,
  )
  assert.deepEqual(await rowsIn(pool, 'once')<[number]>('select 7'), [[7]])
})
