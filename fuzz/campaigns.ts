// The two campaigns: they send requests, judge the responses, and measure the server afterwards.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createRandom } from '../src/demo/random.ts'
import { resources } from '../src/resources/index.ts'
import type { Document } from '../test/support/announcement.ts'
import { pathOf } from '../test/support/make-app.ts'
import { createJudge, type Judge } from './judge.ts'
import { mutate, validRequests } from './mutations.ts'
import { anyRequest, type FuzzedRequest } from './requests.ts'
import {
  companies,
  descriptors,
  type FuzzedServer,
  residentMb,
  settledDescriptors,
} from './server.ts'
import { type Client, createClient, exchangeOnce, readAnswer, show } from './wire.ts'

/** The parameters of a campaign. */
export interface Task {
  readonly server: FuzzedServer
  readonly seed: number
  /** The number of requests. */
  readonly count: number
  /** Called after each request with the number of those sent; its client waits for it. */
  readonly onProgress?: (sent: number) => void | Promise<void>
}

/** The findings of a campaign. */
export interface Found {
  readonly sent: number
  /** The number of responses by status; 0 for no response at all. */
  readonly statuses: ReadonlyMap<number, number>
  /** Faults, each with the request that caused it. */
  readonly faults: readonly string[]
  /** Resident memory in MB after the first tenth of the requests, and at the end. */
  readonly memoryMb: readonly [warm: number | undefined, end: number | undefined]
  readonly descriptors: readonly [before: number | undefined, after: number | undefined]
  readonly seconds: number
}

const clientCount = 8
/** How often a valid request is sent, which must get its usual response. */
const goodEvery = 20
/** How many requests are generated at once. */
const batchSize = 500
/** A campaign ends after this many faults, since one fault tends to recur. */
const faultsMax = 20

/** Sends structured requests, over one connection per client as long as the server keeps it. */
export async function fuzzStructured(task: Task): Promise<Found> {
  const { server, seed, count } = task
  const requests = anyRequest(server.keys)
  const numRuns = Math.min(batchSize, count)
  const samples = inBatches((batch) => fc.sample(requests, { seed: seed + batch, numRuns }))
  return runClients(task, samples, async (request, { judge, client, note }) => {
    const answer = await client.ask(request.bytes, request.method)
    note(answer.status)
    judge.judge(request, answer)
    checkId(request, answer.headers)
  })
}

/** Checks by the returned request id that the response belongs to this request. */
function checkId({ id }: FuzzedRequest, headers: Readonly<Record<string, string>>): void {
  if (id === undefined || headers['connection'] === 'close') return
  assert.equal(headers['x-request-id'], id, 'the answer to another request')
}

/** Sends mutated raw requests, each on its own connection. */
export async function fuzzRaw(task: Task): Promise<Found> {
  const { server, seed, count } = task
  const valid = validRequests(server.keys.good)
  const mutations = inBatches((batch) => {
    const random = createRandom(seed + batch)
    return Array.from({ length: Math.min(batchSize, count) }, () => ({
      bytes: mutate(random, valid),
    }))
  })
  return runClients(task, mutations, async ({ bytes }, { judge, note }) => {
    let rest = await exchangeOnce(server.port, bytes)
    if (rest.length === 0) note(0)
    while (rest.length > 0) {
      const found = readAnswer(rest, (_, after) => isEndOrAnswer(after))
      assert.ok(found, `an answer that is cut off: ${show(rest)}`)
      note(found.answer.status)
      if (found.answer.status !== 100) judge.judgeAny(found.answer)
      rest = rest.subarray(found.length)
    }
  })
}

/** Guesses whether a response has no body, since it may answer HEAD; no body starts like this. */
function isEndOrAnswer(rest: Buffer): boolean {
  return rest.length === 0 || rest.toString('latin1', 0, 9) === 'HTTP/1.1 '
}

interface Means {
  readonly judge: Judge
  readonly client: Client
  readonly note: (status: number) => void
}

/** Makes requests in batches, without end. */
export function* inBatches<Request>(
  makeBatch: (batch: number) => readonly Request[],
): Generator<Request> {
  for (let batch = 0; ; batch += 1) yield* makeBatch(batch)
}

/**
 * Sends the first of some requests by several clients at once.
 *
 * @param send sends one, and throws if the answer is wrong.
 */
export async function runClients<Request extends { readonly bytes: Buffer }>(
  { server, count, onProgress }: Omit<Task, 'seed'>,
  requests: Generator<Request>,
  send: (request: Request, means: Means) => Promise<void>,
): Promise<Found> {
  const startedAt = performance.now()
  const good = goodRequest(server)
  const judge = createJudge(await readDocument(server))
  const before = descriptors(server.pid)
  const statuses = new Map<number, number>()
  const note = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const faults: string[] = []
  const queue = requests.take(count)
  const isDone = () => faults.length >= faultsMax || !server.isAlive()
  let sent = 0
  let warmMb: number | undefined

  async function run(): Promise<void> {
    let client = createClient(server.port)
    for (const request of queue) {
      if (isDone()) break
      const number = (sent += 1)
      try {
        await send(request, { judge, client, note })
        if (number % goodEvery === 0) await checkGood(client, good)
      } catch (error) {
        faults.push(`${String(error)}\n  after ${show(request.bytes)}`)
        client.close()
        client = createClient(server.port)
      }
      if (number >= count / 10) warmMb ??= residentMb(server.pid)
      await onProgress?.(number)
    }
    client.close()
  }

  await Promise.all(Array.from({ length: clientCount }, run))
  faults.push(...server.complaints.slice(0, faultsMax))
  const after = server.isAlive() ? await settledDescriptors(server.pid, before) : undefined
  const endMb = server.isAlive() ? residentMb(server.pid) : undefined
  return {
    ...{ sent, statuses, faults },
    memoryMb: [warmMb, endMb],
    descriptors: [before, after],
    seconds: (performance.now() - startedAt) / 1_000,
  }
}

/** Uses a connection that closes afterwards, since descriptors are counted next. */
async function readDocument({ port, pid }: FuzzedServer): Promise<Document> {
  const before = descriptors(pid)
  const start = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  const found = readAnswer(await exchangeOnce(port, Buffer.from(start)), () => false)
  assert.ok(found)
  await settledDescriptors(pid, before)
  return JSON.parse(found.answer.text) as Document
}

/** A valid request with its exact response. */
interface Good {
  readonly bytes: Buffer
  text: string | undefined
}

function goodRequest({ keys }: FuzzedServer): Good {
  const [resource] = resources
  assert.ok(resource)
  // Records that no import of the soak replaces.
  const path = `${pathOf(resource, companies.full)}?page=60&limit=4`
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${keys.good}`
  return { bytes: Buffer.from(`${head}\r\n\r\n`), text: undefined }
}

/** Uses the connection of the fuzzed requests, to check that they have left nothing on it. */
async function checkGood(client: Client, good: Good): Promise<void> {
  const answer = await client.ask(good.bytes, 'GET')
  good.text ??= answer.text
  assert.equal(answer.status, 200, 'a good request is answered')
  assert.equal(answer.text, good.text, 'as before')
  assert.match(answer.text, /"pagination_offset":236\}$/)
}
