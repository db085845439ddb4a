// Health checks for load balancers and supervisors: is the process alive, and does the store
// answer? Neither check needs a key or reveals any data.

import type { HttpReply } from '../wire/exchange.ts'
import { unavailable } from '../errors.ts'
import { fromStore } from '../store-errors.ts'
import type { Endpoint } from './endpoint.ts'

export const live: Endpoint = {
  path: '/healthz',
  scope: undefined,
  isAlwaysAnswered: true,
  answer: ({ reply }) => sendOk(reply),
}

/** A draining server is alive but not ready: clients should send requests elsewhere. */
export const ready: Endpoint = {
  path: '/readyz',
  scope: undefined,
  isAlwaysAnswered: true,
  async answer({ reply }, { store, isDraining }) {
    if (isDraining()) throw unavailable()
    await fromStore(() => store.ping())
    return sendOk(reply)
  },
}

function sendOk(reply: HttpReply): HttpReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send('{"ok":true}')
}
