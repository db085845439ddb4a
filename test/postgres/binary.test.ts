// Bytes go to PostgreSQL and come back as they are: lists and results in binary form.

import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Client, types } from 'pg'
import { binaryList, type BinaryQuery, createClient } from '../../src/store/postgres/binary.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { writerOf } from '../../src/store/postgres/tables.ts'
import { sessionFor } from '../support/sessions.ts'
import { testServerUrl } from '../support/store-at.ts'

const session = async (t: TestContext) => {
  const client = await openSession(testServerUrl())
  t.after(() => client.end().catch(() => undefined))
  return client
}

const ask = async (client: Pick<Client, 'query'>, sql: string, ...values: unknown[]) => {
  const query: BinaryQuery = { text: sql, values, rowMode: 'array', binary: true }
  return (await client.query<unknown[]>(query)).rows
}

const anyBytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))

test('columns of a binary result are as they were stored, for every type in use', async (t) => {
  const client = await session(t)
  const rows = await ask(
    client,
    `select $1::bytea, ''::bytea, null::bytea, 'Ž'::text, true, false, (-1)::smallint,
       (-2147483648)::integer, (2^53 - 1)::bigint, (-2^53 + 1)::bigint, 1.5::float8`,
    anyBytes,
  )
  const [int, long] = [-(2 ** 31), 2 ** 53 - 1]
  assert.deepEqual(rows, [
    [anyBytes, Buffer.from(''), null, 'Ž', true, false, -1, int, long, -long, 1.5],
  ])
  await assert.rejects(ask(client, `select $1::inet`, '::1'), /no binary form of type 869/)
  const { rows: after } = await client.query<{ n: number; b: Buffer }>({
    text: `select 2::bigint as n, '\\xff00'::bytea as b where $1`,
    values: [true],
  })
  assert.deepEqual(after, [{ n: 2, b: Buffer.from([255, 0]) }], 'a result in text form')
})

test('a null in a list is a null, whatever the setting of the database', async (t) => {
  const url = testServerUrl('-c array_nulls=off')
  const client = await sessionFor(t, url)
  await client.query('create temporary table listed (segment bigint, meta text)')
  const writer = writerOf(client, false)
  const all = [
    [1, null],
    [null, 'null'],
  ]
  await writer.insert({ table: 'listed', columns: ['segment', 'meta'] }, all)
  assert.deepEqual(await writer.rows('select segment, meta from listed'), all)
})

test('a result arrives in pieces of any length', async (t) => {
  for (const length of [1, 2, 3, 5, 7, 1_000]) {
    const url = new URL(testServerUrl())
    url.searchParams.delete('options')
    const client = createClient({
      connectionString: url.href,
      types: { getTypeParser: openTypes },
      stream: () => splitting(length),
    })
    t.after(() => client.end())
    await client.connect()
    const bytes = Buffer.concat(Array.from({ length: 20 }, () => anyBytes))
    const sql = `select n, case when n <> 3 then $1::bytea end from generate_series(1, 5) n`
    const rows = await ask(client, sql, bytes)
    const told = rows.map(([, value]) => value)
    assert.deepEqual(told, [bytes, bytes, null, bytes, bytes], `pieces of ${length} bytes`)
    const { rows: plain } = await client.query<{ n: unknown }>('select 7 as n')
    assert.equal(String(plain[0]?.n), '7')
  }
})

/** Leaves every value as it is. */
const openTypes = () => (value: unknown) => value

/** A socket that receives a few bytes at a time. */
function splitting(length: number): Socket {
  const socket = new Socket()
  const emit = socket.emit.bind(socket) as (name: string | symbol, ...args: unknown[]) => boolean
  socket.emit = (name: string | symbol, ...args: unknown[]) => {
    const [chunk] = args
    if (name !== 'data' || !Buffer.isBuffer(chunk)) return emit(name, ...args)
    for (let at = 0; at < chunk.length; at += length) emit(name, chunk.subarray(at, at + length))
    return true
  }
  return socket
}

test('lists have any texts, bytes and nulls', async (t) => {
  const client = await session(t)
  const long = Buffer.alloc(3_000_000, anyBytes)
  const texts = [
    'Ž',
    '',
    null,
    '\t\\N\n"{,}',
    'null',
    ...Array.from({ length: 3_000 }, (_, n) => `Ž${n}`),
  ]
  const bytes = texts.map((_, n) => (n === 1 ? null : n === 3 ? long : anyBytes.subarray(n % 256)))
  const { BYTEA, TEXT } = types.builtins
  const lists = [binaryList(TEXT, texts), binaryList(BYTEA, bytes)]
  const found = await ask(client, 'select * from unnest($1::text[], $2::bytea[])', ...lists)
  const expected = texts.map((one, n) => [one, bytes[n]])
  assert.ok(isDeepStrictEqual(found, expected), 'all of them, as they are')
})
