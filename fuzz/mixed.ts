// Mixed load for `npm run soak -- --minutes 10`: all endpoints, all codings, filters that are never
// the same, streams, clients that leave and clients that read slowly.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { selectionNames } from '../src/http/requests/selection-parameters.ts'
import { resources } from '../src/resources/index.ts'
import { pathOf } from '../test/support/make-app.ts'
import { companies, type FuzzedServer } from './server.ts'

const codings = ['identity', 'gzip', 'br', 'zstd'] as const

function pick<T>(from: readonly T[]): T {
  const one = from[Math.floor(Math.random() * from.length)]
  assert.ok(one !== undefined)
  return one
}

/** A path that any client may ask for; every second one has never been asked for. */
function anyPath(): string {
  const resource = pick(resources)
  const listing = pathOf(resource, companies.full)
  const length = pick([8, 300, 9_000])
  const text = randomBytes(length).toString('base64url')
  return pick([
    () => listing,
    () => `${listing}?page=${1 + Math.floor(Math.random() * 60)}&limit=5`,
    () => `${listing}?${pick(filtersOf(resource))}=${text}`,
    () => `${listing}?sort=-id&limit=${1 + Math.floor(Math.random() * 1_000)}`,
    () => `${listing}?format=${pick(['csv', 'ndjson'])}&limit=all`,
    () => `${listing}?version=${1 + Math.floor(Math.random() * 3)}`,
    () => `/api/v1/companies/${companies.full}`,
    () => `/api/v1/companies?q=${text.replaceAll(/[-_]/g, 'x').slice(0, 12)}`,
    () => `/api/v1/companies?identifier=${text.slice(0, 1_000)}`,
    () => '/api/v1/versions',
    () => '/api/v1/key',
    () => '/openapi.json',
    () => '/docs/client.md',
    () => '/healthz',
  ])()
}

function filtersOf(resource: (typeof resources)[number]): readonly string[] {
  const names = Object.entries(resource.fields)
  const texts = names.filter(([, { kind, filter }]) => kind === 'text' && filter !== undefined)
  return texts.length === 0 ? selectionNames(resource) : texts.map(([name]) => name)
}

/** What came of the requests. */
export interface MixedCounts {
  sent: number
  left: number
  readonly statuses: Record<string, number>
}

/** Sends requests until the signal, one by one; of twenty, one leaves and one reads slowly. */
export async function sendMixed(
  { port, keys }: FuzzedServer,
  counts: MixedCounts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const path = anyPath()
    const coding = pick(codings)
    const fields = `Authorization: Bearer ${keys.good}\r\nAccept-Encoding: ${coding}\r\n`
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`
    const manner = Math.random()
    counts.sent += 1
    if (manner < 0.05) {
      counts.left += 1
      await leave(port, request)
    } else {
      const status = await ask(port, request, manner < 0.1)
      counts.statuses[status] = (counts.statuses[status] ?? 0) + 1
    }
  }
}

/** Sends a request, and closes the connection before or amid the answer. */
async function leave(port: number, request: string): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(request)
  await sleep(Math.random() * 20)
  socket.resetAndDestroy()
}

/** Reads an answer to its end, slowly perhaps; returns its status. */
function ask(port: number, request: string, isSlow: boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let status = ''
    socket.on('data', (bytes) => {
      if (status === '') status = /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1'))?.[1] ?? '?'
      if (!isSlow) return
      socket.pause()
      setTimeout(() => socket.resume(), 50)
    })
    socket.once('end', () => resolve(status))
    socket.once('error', reject)
    socket.write(request)
  })
}
