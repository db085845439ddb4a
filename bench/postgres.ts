// The measures on PostgreSQL, with a server on the same machine that is started for the run.

import { withSession } from '../src/store/postgres/connect.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { type Figure, figure, type Measure } from './figures.ts'
import { eventsOf, makeFile, makeKey, rightsOf, type Shape } from './files.ts'
import { compareLastPage } from './measures.ts'
import { compare, importFile, startBare, startDossier } from './processes.ts'

// On a busy machine a request may wait long; it should be slow in the results, not refused.
export const timeouts = ['--wait-ms', '20000', '--statement-ms', '20000']

// As in production: safe on disk, and memory for random reads.
export const settings = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
}

/** Measures a store in PostgreSQL. */
export const onPostgres: Measure = async (scale) => {
  const server = await startPostgres({ settings })
  try {
    const rights = rightsOf(1e6 * scale, 100, 'clustered')
    return [
      ...(await importing(server.url, rights)),
      ...(await randomPages(server.url, rights)),
      ...(await lastPage(server.url, scale)),
    ]
  } finally {
    await server.remove()
  }
}

const rounds = 3

async function importing(url: string, shape: Shape): Promise<Figure[]> {
  const file = makeFile(shape)
  const rates = { first: [] as number[], again: [] as number[], peakMb: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const db = `${url}?schema=round_${round}`
    for (const rate of [rates.first, rates.again]) {
      const { seconds, peakMb } = await importFile(shape.resource, file, db)
      rate.push(shape.records / seconds)
      rates.peakMb.push(peakMb)
    }
  }
  const what = 'PostgreSQL: import of 1,000,000'
  return [
    figure(what, 'records/s', rates.first, { least: 40_000 }),
    figure(`${what}, again`, 'records/s', rates.again, { least: 80_000 }),
    figure(`${what}, memory`, 'MB', rates.peakMb, { most: 350 }),
  ]
}

async function randomPages(url: string, { records, listing }: Shape): Promise<Figure[]> {
  const db = `${url}?schema=round_0`
  await withSession(url, async (client) => {
    // Not compressed, since the records of the store are not either.
    await client.query(`
      create table bare (company_id bigint primary key, body text storage external);
      insert into bare
        select company_id, '{"ok":true,"rights":[' || string_agg(record::text, ',' order by id)
          || '],"total":100,"pagination_total":100,"pagination_offset":0}'
        from round_0.rights_records group by company_id`)
    await client.query('vacuum analyze')
  })
  const key = makeKey(db)
  await using served = await startDossier(db, 0, timeouts)
  await using bare = await startBare(served, key, '/api/v1/companies/1/rights', [
    'bare-postgres.ts',
    url,
  ])
  const path = '/api/v1/companies/{}/rights'
  const question = { key, path, companies: records / listing }
  const { rate } = await compare([served, question], [bare, question])
  const what = 'PostgreSQL: random pages of 100, cache off'
  return [figure(what, '÷ bare driver', rate, { least: 0.7 })]
}

async function lastPage(url: string, scale: number): Promise<Figure[]> {
  const db = `${url}?schema=last_page`
  await importFile('events', makeFile(eventsOf(1e6 * scale)), db)
  await using served = await startDossier(db, 0, timeouts)
  const what = 'PostgreSQL: last page of 1,000,000'
  return await compareLastPage(what, served, makeKey(db), scale)
}
