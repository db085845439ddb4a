// Nodes of Citus that are silent, and shards that move: who waits, and for how long.
//
// It starts nodes of its own wherever a PostgreSQL with Citus is installed.

import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../src/resources/index.ts'
import { migrateStore, openStoreReader } from '../../src/store/open-store.ts'
import { watchNodes } from '../../src/store/postgres/citus/watch.ts'
import { withSession } from '../../src/store/postgres/connect.ts'
import type { StoreReader } from '../../src/store/serving/store-reader.ts'
import { wholeListing } from '../../src/store/selection.ts'
import { type CitusNodes, findCitus, runOn, startCitus } from '../support/citus-nodes.ts'
import { importRows, makeFolder } from '../support/import-rows.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { checkSound } from '../support/verify-store.ts'

const programs = findCitus()
const skip = programs === undefined ? 'no PostgreSQL with Citus is installed here' : false
const [rights = assert.fail('there are resources')] = resources

const extract = `${makeFolder({ after })}/extract`

let started: CitusNodes | undefined
let db: string
/** Companies, by the port of their node. */
const companiesAt = new Map<number, number[]>()

before(async () => {
  if (programs === undefined) return
  const nodes = (started = await startCitus(programs, 2, { 'citus.shard_count': '4' }))
  db = `${nodes.coordinator.url}?schema=stalls`
  await migrateStore(db, resources, { isDistributed: true, onWait: () => undefined })
  const rows = Array.from({ length: 40 }, (_, n) => ({ id: n + 1, company_id: n + 1, name: 'one' }))
  await importRows(extract, 'rights', rows, { at: db })
  const companies = rows.map(({ id }) => ({
    id,
    jurisdiction: 'GB',
    identifier: `${id}`,
    name: 'Company',
  }))
  await importRows(extract, 'companies', companies, { at: db })
  const places = await runOn<{ id: number; port: number }>(
    nodes.coordinator,
    `select c.id::integer as id, s.nodeport as port from stalls.companies c
     join citus_shards s
       on s.shardid = get_shard_id_for_distribution_column('stalls.company_states', c.id)`,
  )
  for (const { id, port } of places) {
    companiesAt.set(port, [...(companiesAt.get(port) ?? []), id])
  }
})
after(() => started?.remove())

const citus = () => started ?? assert.fail('the nodes run')

/** Stops a node's processes where they are until the function that it returns is called. */
function silence(t: TestContext, node: PostgresServer): () => void {
  const pids = node.pids()
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch {
        // A session that has ended meanwhile.
      }
    }
  }
  signal('SIGSTOP')
  t.after(() => signal('SIGCONT'))
  return () => signal('SIGCONT')
}

const read = async (store: StoreReader, company: number) =>
  store.readPage(wholeListing(rights, company), 0, 10)

/** A statement for a node that answers takes far less, even on a busy machine. */
const bounds = { pool: 4, statementMs: 3_000, waitMs: 6_000 }

test('a silent node takes no other node’s companies with it (A)', { skip }, async (t) => {
  const [silent, healthy] = citus().workers as [PostgresServer, PostgresServer]
  const store = await openStoreReader(db, bounds)
  t.after(() => store.close())
  const [asked = 0] = companiesAt.get(silent.port) ?? []
  await read(store, asked)
  const goOn = silence(t, silent)
  // The pool is theirs until their statements have timed out.
  const first = await Promise.allSettled(Array.from({ length: 30 }, () => read(store, asked)))
  assert.ok(first.every(({ status }) => status === 'rejected'))
  let isOver = false
  t.after(() => (isOver = true))
  const clients = Array.from({ length: 30 }, async () => {
    while (!isOver) {
      await read(store, asked).catch(() => undefined)
      await sleep(5)
    }
  })
  for (let n = 0; n < 100; n++) {
    for (const company of (companiesAt.get(healthy.port) ?? []).slice(0, 3)) {
      assert.equal(((await read(store, company)) as { total: number }).total, 1)
    }
    await sleep(10)
  }
  goOn()
  const isBack = () =>
    read(store, asked).then(
      () => true,
      () => false,
    )
  while (!(await isBack())) await sleep(20)
  isOver = true
  await Promise.all(clients)
})

test('a company can be read as soon as its silent node is back (A)', { skip }, async (t) => {
  const [silent = assert.fail('there are workers')] = citus().workers
  const store = await openStoreReader(db, bounds)
  t.after(() => store.close())
  const [companyId = 0] = companiesAt.get(silent.port) ?? []
  const asked = { companyId, version: undefined, resources: [] }
  const goOn = silence(t, silent)
  await assert.rejects(async () => store.readCompany(asked))
  goOn()
  // A node rests for a second after it was silent.
  await sleep(1_100)
  const found = (await store.readCompany(asked)) as { company: { name: unknown } }
  assert.equal(found.company.name, 'Company')
})

test('a node is tried again, even if the pool was full at its timeout (A)', { skip }, async (t) => {
  const [one, other] = citus().workers as [PostgresServer, PostgresServer]
  const [companyId = 0] = companiesAt.get(one.port) ?? []
  const [another = 0] = companiesAt.get(other.port) ?? []
  const store = await openStoreReader(db, { pool: 2, statementMs: 1_000, waitMs: 500 })
  t.after(() => store.close())
  const told = (company: number) => read(store, company).then(() => 'read', String)
  for (const company of [companyId, another]) assert.equal(await told(company), 'read')
  const goOn = silence(t, one)
  await until(async () => (await told(companyId)).endsWith('does not answer'))
  await sleep(1_100)
  const otherGoesOn = silence(t, other)
  const again = told(companyId)
  await sleep(900)
  await Promise.all(Array.from({ length: 8 }, () => told(another)))
  assert.notEqual(await again, 'read')
  goOn()
  otherGoesOn()
  await until(async () => (await told(companyId)) === 'read')
})

test('a command says that a node is silent, and ends (B)', { skip }, async (t) => {
  const [silent = assert.fail('there are workers')] = citus().workers
  const said: (string | undefined)[] = []
  await withSession(db, async (client) => {
    await client.query('select count(*) from heads')
    const goOn = silence(t, silent)
    const times = { everyMs: 100, answerMs: 3_000, silentMs: 1_000 }
    watchNodes(client, db, { onWait: (reason) => said.push(reason) }, times)
    const told = /: its node 127\.0\.0\.1:\d+ has not answered for 1 seconds; nothing was changed/
    await assert.rejects(client.query('select count(*) from heads'), { message: told })
    goOn()
  }).catch((error: unknown) => assert.match(String(error), /not queryable|ended|closed/))
  assert.deepEqual(said, [`the node 127.0.0.1:${silent.port} of Citus does not answer; waiting`])
})

/** Moves the shards of a company to the other node. */
const moveSql = (company: number) => `
  select citus_move_shard_placement(
    s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'force_logical'
  )
  from citus_shards s join pg_dist_node n on n.shouldhaveshards and n.nodeport <> s.nodeport
  where s.shardid = get_shard_id_for_distribution_column('stalls.company_states', ${company})`

test('an import runs between the moves of a rebalance, however many (C)', { skip }, async () => {
  const state = { isOver: false }
  const moving = (async () => {
    let moves = 0
    for (; !state.isOver; moves++) await runOn(citus().coordinator, moveSql(1 + (moves % 2)))
    return moves
  })()
  for (const name of ['two', 'three']) {
    const rows = Array.from({ length: 40 }, (_, n) => ({ id: n + 1, company_id: n + 1, name }))
    const { counts } = await importRows(extract, 'rights', rows, { at: db })
    assert.equal(counts.updated, rows.length)
  }
  state.isOver = true
  assert.ok((await moving) > 0)
  await checkSound(db)
})

test('a wait for a move is reported, and ends with its signal (C, D)', { skip }, async () => {
  const stopping = new AbortController()
  await withSession(db, async (client) => {
    await client.query('begin')
    await client.query(moveSql(1).replace('force_logical', 'block_writes'))
    const said: (string | undefined)[] = []
    const imported = importRows(extract, 'rights', [{ id: 1, company_id: 1, name: 'four' }], {
      at: db,
      signal: stopping.signal,
      onWait: (reason) => {
        said.push(reason)
        stopping.abort('SIGINT')
      },
    })
    await assert.rejects(imported, (error) => error === 'SIGINT')
    assert.deepEqual(said, ['Citus is moving shards; waiting for it to finish'])
    await client.query('rollback')
  })
})
