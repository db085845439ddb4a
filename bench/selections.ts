// What filters, versions and streams cost, beside plain pages of the same server.

import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Figure, figure } from './figures.ts'
import { eventsOf, folder, makeChangedStore, makeKey, makeStore, rightsOf } from './files.ts'
import {
  compare,
  cpuSeconds,
  load,
  residentMb,
  type Server,
  startDossier,
  startScript,
} from './processes.ts'

const rounds = 5

/** A filtered page and pinned pages, beside a plain page; no page is cached. */
export async function comparePages(scale: number): Promise<Figure[]> {
  const shape = rightsOf(1e5 * Math.max(scale, 0.1), 1_000, 'clustered')
  const { db } = makeStore(shape)
  const changed = makeChangedStore(shape, shape.records / 10)
  const figures: Figure[] = []
  for (const [what, store, query, least] of [
    ['filtered page of 100 of 1,000, view kept', db, 'status=registered', 0.8],
    ['pinned page of a listing that has not changed', db, 'version=1', 0.95],
    ['pinned page of 1,000 with 100 changes since', changed, 'version=1', 0.95],
  ] as const) {
    const key = makeKey(store)
    await using server = await startDossier(store, 0)
    const path = '/api/v1/companies/7/rights'
    const plain = { key, path: `${path}?limit=100` }
    const selected = { key, path: `${path}?limit=100&${query}` }
    const { cpu } = await compare([server, selected], [server, plain])
    figures.push(figure(`${what}, by processor time`, '÷ plain page', cpu, { least }))
  }
  return figures
}

/** Views of long listings: made for the first time, and their last page beside their first. */
export async function makeViews(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [records, most] of [
    [10_000, 5],
    [250_000, 100],
  ] as const) {
    const { db, key } = makeStore(eventsOf(records))
    await using server = await startDossier(db, 0)
    const what = `first filtered request of ${records.toLocaleString('en')}`
    figures.push(figure(what, 'ms', await firstRequests(server, key), { most }))
    if (records < 250_000) continue
    figures.push(...(await lastPages(server, key)), ...(await besideViews(server, key)))
  }
  return figures
}

const eventsPath = '/api/v1/companies/1/events'

/** Each asks for another view, after three that warm up. */
async function firstRequests(server: Server, key: string): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < 15; n += 1) {
    const query = `attr=address&date[gte]=2000-01-01T00:00:${String(n).padStart(2, '0')}Z`
    const startedAt = performance.now()
    await read(server, key, `${eventsPath}?limit=10&${query}`)
    if (n >= 3) times.push(performance.now() - startedAt)
  }
  return times
}

async function lastPages(server: Server, key: string): Promise<Figure[]> {
  const page = (n: number) => ({
    key,
    path: `${eventsPath}?attr=address&page=${n}`,
    connections: 1,
  })
  const { latency } = await compare([server, page(500)], [server, page(1)])
  const what = 'last page of a filtered listing of 250,000'
  return [figure(what, '÷ first (time)', latency, { most: 1.2 })]
}

/** Pages of other clients while ten clients have views made without a pause. */
async function besideViews(server: Server, key: string): Promise<Figure[]> {
  const values: number[] = []
  let views = 0
  for (let round = 0; round < rounds; round += 1) {
    const question = { key, path: `${eventsPath}?limit=10`, connections: 4 }
    const alone = await load(server, question, 2)
    let isOver = false
    const others = Array.from({ length: 10 }, async () => {
      while (!isOver) {
        const moment = new Date(Date.UTC(2000, 0, 1) + (views += 1) * 1_000)
        const from = `${moment.toISOString().slice(0, 19)}Z`
        await read(server, key, `${eventsPath}?limit=10&attr=address&date[gte]=${from}`)
      }
    })
    const beside = await load(server, question, 2)
    isOver = true
    await Promise.all(others)
    values.push(beside.p99Us / alone.p99Us)
  }
  const what = "other clients' p99 beside ten that filter 250,000"
  return [figure(what, '÷ alone', values, { most: 1.5 })]
}

/** A whole listing in one answer, beside a bare server that pipes a file of the same bytes. */
export async function streamListings(scale: number): Promise<Figure[]> {
  const { db, key } = makeStore(eventsOf(1e6 * scale))
  await using server = await startDossier(db, 0)
  const path = (format: string) => `${eventsPath}?limit=all&format=${format}`
  const file = join(folder, 'stream.ndjson')
  const { body } = await ask(server, key, path('ndjson'))
  await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(file))
  await read(server, key, `${eventsPath}?limit=100`)
  await using bare = await startScript('file-server.ts', file)
  const ndjson: number[] = []
  const csv: number[] = []
  const idleMb = residentMb(server.pid, 'VmRSS')
  for (let round = 0; round < rounds; round += 1) {
    const ofBare = await secondsPerMb(bare, key, '/')
    const ofNdjson = await secondsPerMb(server, key, path('ndjson'))
    ndjson.push(ofBare / ofNdjson)
    csv.push(ofNdjson / (await secondsPerMb(server, key, path('csv'))))
  }
  const grownMb = Math.max(0, residentMb(server.pid, 'VmHWM') - idleMb)
  const what = 'limit=all as NDJSON, 1,000,000 records'
  return [
    figure(what, '÷ piped file', ndjson, { least: 0.5 }),
    figure(`${what}, memory`, 'MB above idle', [grownMb], { most: 60 }),
    figure('limit=all as CSV', '÷ NDJSON', csv, { least: 0.4 }),
  ]
}

/** The server's processor time for each MB of a body. */
async function secondsPerMb(server: Server, key: string, path: string): Promise<number> {
  const before = cpuSeconds(server.pid)
  let bytes = 0
  for (let n = 0; n < 3; n += 1) bytes += await read(server, key, path)
  return (cpuSeconds(server.pid) - before) / (bytes / 1e6)
}

async function ask(server: Server, key: string, path: string): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
  })
  if (!answer.ok || answer.body === null) throw new Error(`${path}: ${answer.status}`)
  return answer
}

/** Reads an answer whole; returns its length. */
async function read(server: Server, key: string, path: string): Promise<number> {
  const { body } = await ask(server, key, path)
  let bytes = 0
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length
  return bytes
}
