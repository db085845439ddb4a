// Bytes go to PostgreSQL and come back as they are: COPY and results in binary form.

import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Client } from 'pg'
import { type BinaryQuery, createClient } from '../../src/store/postgres/binary.ts'
import { openSession } from '../../src/store/postgres/connect.ts'
import { bigint, copyRows, type Field, integer, text } from '../../src/store/postgres/binary.ts'
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

const createTable = 'create temp table copied (a bigint primary key, b integer, c text, d bytea)'

test('COPY writes rows of any bytes, numbers and nulls', async (t) => {
  const client = await session(t)
  await client.query(createTable)
  const long = Buffer.alloc(3_000_000, anyBytes)
  const rows: [number, number, string | null, Buffer | null][] = [
    ...Array.from(
      { length: 3_000 },
      (_, n): [number, number, string, Buffer] =>
        [...[n, 1 - n, `Ž${n}`, anyBytes.subarray(n % 256)]] as [number, number, string, Buffer],
    ),
    [2 ** 53 - 1, 2 ** 31 - 1, null, null],
    [-(2 ** 53) + 1, -(2 ** 31), '', Buffer.from('')],
    [2 ** 32, 0, '\t\\N\n', long],
  ]
  await copyRows(client, 'copied (a, b, c, d)', rows.map(fieldsOf))
  const found = await ask(client, 'select a, b, c, d from copied where $1 order by a', true)
  const expected = rows.toSorted(([a], [b]) => a - b)
  assert.ok(isDeepStrictEqual(found, expected), 'all rows, and their bytes')
  await copyRows(client, 'copied', [])
})

const fieldsOf = ([a, b, c, d]: readonly [
  number,
  number,
  string | null,
  Buffer | null,
]): Field[] => [...[bigint(a), integer(b), text(c), d]]
