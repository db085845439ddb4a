// The time of a refusal (row C4): it must not reveal whether a key was ever valid.

import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { issueKey } from '../test/support/issue-key.ts'
import { makeKey } from '../src/auth/key.ts'
import { resources } from '../src/resources/index.ts'
import { openStoreWriter } from '../src/store/open-store.ts'
import { figure, type Measure, median } from './figures.ts'
import { makeStore, rightsOf } from './files.ts'
import { startDossier } from './processes.ts'

const rounds = 5
const callsOfARound = 10_000

/**
 * Times 10,000 refusals each of an unknown, an expired and a revoked key, alternately on one
 * connection. The result is the greatest median divided by the least.
 */
export const compareRefusals: Measure = async (scale) => {
  const { db } = makeStore(rightsOf(1_000, 100, 'clustered'))
  const requests = (await makeWrongKeys(db)).map((key) =>
    Buffer.from(
      `GET /api/v1/companies/1/rights HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    ),
  )
  await using server = await startDossier(db, 64, ['--bad-key-rate', 'none'])
  const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true })
  const values: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const medians = await timeInTurn(socket, requests, callsOfARound * scale)
    // The first round warms up.
    if (round > 0) values.push(Math.max(...medians) / Math.min(...medians))
  }
  socket.destroy()
  const what = 'refusals: the slowest kind of wrong key by the quickest'
  return [figure(what, 'of medians', values, { most: 1.05 })]
}

/** Makes an unknown key, an expired one and a revoked one. */
async function makeWrongKeys(db: string): Promise<string[]> {
  const store = await openStoreWriter(db, resources)
  const wait = { onWait: () => undefined }
  const now = Date.now()
  const make = (name: string, expiresAt: number | undefined) =>
    issueKey(
      store,
      { name: `${name}-${now}`, scopes: undefined, expiresAt, createdAt: now, rate: undefined },
      wait,
    )
  try {
    const expired = await make('expired', now - 1_000)
    const revoked = await make('revoked', undefined)
    await store.revokeKey(`revoked-${now}`, now, wait)
    return [makeKey(randomBytes(32)), expired, revoked]
  } finally {
    await store.close()
  }
}

/** Sends each of the requests `calls` times, alternately; returns their medians in microseconds. */
async function timeInTurn(
  socket: Socket,
  requests: readonly Buffer[],
  calls: number,
): Promise<number[]> {
  const times = requests.map(() => [] as number[])
  for (let call = 0; call < calls; call += 1) {
    for (let place = 0; place < requests.length; place += 1) {
      // Rotates the order, so that no kind has an advantage by always being first.
      const kind = (place + call) % requests.length
      times[kind]?.push(await timeRefusal(socket, requests[kind] ?? Buffer.of()))
    }
  }
  return times.map(median)
}

async function timeRefusal(socket: Socket, request: Buffer): Promise<number> {
  const startedAt = process.hrtime.bigint()
  socket.write(request)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  const us = Number(process.hrtime.bigint() - startedAt) / 1_000
  if (!answer.toString('latin1').startsWith('HTTP/1.1 403')) throw new Error(answer.toString())
  return us
}
