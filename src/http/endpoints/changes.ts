// The endpoint by which clients follow the registry (contract 12.1 to 12.5).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { ChangesPage, ChangesRequest } from '../../store/changes.ts'
import { hasScope } from '../../store/keys.ts'
import {
  changesPath,
  type ChangesQuestion,
  locateChanges,
  parseChangesRequest,
} from '../requests/changes-request.ts'
import { changesBody, changesLines } from '../answers/changes-text.ts'
import { walkOf, writePage, writePoint } from '../requests/cursors.ts'
import { unavailable } from '../errors.ts'
import { fromStore } from '../store-errors.ts'
import { contentTypes } from '../requests/formats.ts'
import { linkTo } from '../answers/links.ts'
import { readChanges } from '../answers/read-listing.ts'
import { type Given, readMembers } from '../requests/members.ts'
import { makeReady, type StateAnswer, stateOf } from '../answers/state-answer.ts'
import { sendReady } from '../answers/send.ts'
import { keepForSeveral } from '../wire/body-memory.ts'
import { chooseCoding, type Coding, varyBy } from '../wire/coding.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

export function changes(): Endpoint {
  const underWay = new Map<string, Making>()
  return {
    path: changesPath,
    scope: 'changes',
    answer: (request, service) => answer(request, { service, underWay }),
  }
}

/** A page that is being made: its maker, and how many wait for it. */
interface Making {
  readonly maker: HttpRequest
  readonly ready: ReturnType<typeof make>
  users: number
}

interface Work {
  readonly service: Service
  /** Pages that are being made, by request and state of the registry. */
  readonly underWay: Map<string, Making>
}

async function answer(request: HttpRequest, work: Work): Promise<HttpReply> {
  const { service } = work
  const given = await readMembers(request)
  const askedAt = performance.now()
  for (;;) {
    // Only `given` stays in memory while a request waits.
    const outcome = await tryToAnswer(request, given, work, askedAt)
    if (!('leftMs' in outcome)) return outcome
    await service.watch.wait(request, outcome.state, outcome.leftMs)
    // The client has left.
    if (request.socket.destroyed) throw unavailable()
    await service.checkKeyAgain(request)
  }
}

/** Sends a page; while there is none, returns for how long and after which state to wait. */
async function tryToAnswer(
  request: HttpRequest,
  given: Given,
  work: Work,
  askedAt: number,
): Promise<HttpReply | { readonly state: string; readonly leftMs: number }> {
  const { service } = work
  const { store, resources } = service
  const question = parseChangesRequest(resources, given, request.headers.accept)
  const isReadable = (name: string) => hasScope(request.key?.scopes, name)
  const asked = await locateChanges(store, question, { resources, isReadable })
  const state = stateOf(await fromStore(() => store.readRegistry()))
  const making = share(request, work, { question, asked, state })
  const ready = await making.ready.catch((error: unknown) => {
    // Its maker left while waiting for its turn: another client makes the page.
    if (making.maker !== request && making.maker.socket.destroyed) return undefined
    throw error
  })
  if (ready === undefined) return tryToAnswer(request, given, work, askedAt)
  const waitMs = request.method === 'HEAD' ? 0 : question.waitMs
  const leftMs = ready.isNothingYet ? askedAt + waitMs - performance.now() : 0
  if (leftMs > 0 && !service.isDraining()) return { state: ready.state, leftMs }
  // The service may have begun to stop since the request came.
  if (service.isDraining()) request.reply.header('connection', 'close')
  if (making.users > 1) keepForSeveral(ready.body)
  varyBy(request.reply, 'Accept')
  return sendReady(request, ready, ready)
}

interface Asked {
  readonly question: ChangesQuestion
  readonly asked: ChangesRequest
  readonly state: string
}

/**
 * Makes a page once for all clients that request it at a time, as those that have waited do. It is
 * not kept, since each follower requests a page once.
 *
 * @throws ApiError 503 as `createWorkInTurn`.
 */
function share(
  request: HttpRequest,
  { service, underWay }: Work,
  { question, asked, state }: Asked,
): Making {
  const coding = chooseCoding(request.headers['accept-encoding'])
  const listings = asked.resources.map(({ name }) => name)
  const what = JSON.stringify([question.query, { ...asked, resources: listings }])
  const key = `${what} ${coding} ${state}`
  const known = underWay.get(key)
  if (known !== undefined) {
    known.users += 1
    return known
  }
  const ready = service.turns
    .changes(request, () => make(service, { question, asked, what }, coding))
    .finally(() => void underWay.delete(key))
  const making = { maker: request, ready, users: 1 }
  underWay.set(key, making)
  return making
}

async function make(
  { store }: Service,
  { question, asked, what }: Omit<Asked, 'state'> & { readonly what: string },
  coding: Coding,
) {
  const page = await readChanges(store, asked)
  const identity = `${changesPath} ${what} ${stateOf(page.registry)}`
  const answer = answerOf(question, asked, page)
  page.free?.()
  const ready = await makeReady({ ...answer, identity }, coding)
  const isNothing = page.changes.length === 0 && page.next === undefined
  // Without changes yet, a client may wait for one.
  return { ...ready, isNothingYet: isNothing && asked.until === undefined }
}

function answerOf(
  { query, format }: ChangesQuestion,
  asked: ChangesRequest,
  page: ChangesPage,
): StateAnswer {
  const { registry, since, until, next: place } = page
  const next = place === undefined ? null : writePage([since, until], place, walkOf(asked))
  const cursors = { after: writePoint(since), until: writePoint(until), next }
  return {
    registry,
    version: until.version,
    text: format === 'json' ? changesBody(page, cursors) : changesLines(page),
    link: next === null ? undefined : linkTo('next', `${changesPath}?after=${next}${query}`),
    headers: {
      'content-type': contentTypes[format],
      'changes-until': cursors.until,
      ...(next !== null && { 'changes-next': next }),
    },
  }
}
