// Answers about the registry's state, apart from pages of listings: their entity tag derives from
// their content, or from what determines it.

import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { RegistryState } from '../../store/reading.ts'
import type { Service } from '../service.ts'
import { fromStore } from '../store-errors.ts'
import { compress, sendReady } from './send.ts'
import { giveBack } from '../wire/body-memory.ts'
import { chooseCoding, type Coding, encode, isWorthCoding } from '../wire/coding.ts'

/** The content of an answer, and what its headers say. */
export interface StateAnswer {
  /** JSON, unless `headers` say otherwise. */
  readonly text: string | Buffer
  /** What identifies its state; the content, if nothing does. */
  readonly identity?: string
  readonly registry: RegistryState
  /** The version that was asked for, if it is not the last one. */
  readonly version?: number | undefined
  /** When what it describes last changed, if that was before the last import. */
  readonly changedAt?: number
  readonly link?: string | undefined
  /** Header fields besides those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

type ReadyState = Readonly<Awaited<ReturnType<typeof makeReady>>>

interface CachedQuestion {
  /** Identifies the request, and the key if the answer depends on it; it begins with the path. */
  readonly form: string
  /** For the header `Content-Location`; another one may ask the same by other names. */
  readonly location?: string | undefined
  readonly make: () => Promise<StateAnswer>
}

/**
 * Sends a 200 with the headers of contract section 5, or a 304: from the cache, if nothing has been
 * imported or pruned since the answer was made.
 */
export async function sendCached(
  request: HttpRequest,
  { store, answers }: Pick<Service, 'store' | 'answers'>,
  { form, location, make }: CachedQuestion,
): Promise<HttpReply> {
  const coding = chooseCoding(request.headers['accept-encoding'])
  const key = `${form} ${coding}`
  // Most requests name no other place: a copy would cost each of them.
  const send = (ready: ReadyState) =>
    sendReady(request, ready, location === undefined ? ready : { ...ready, location })
  const cached = answers.get(key) as ReadyState | undefined
  if (cached !== undefined) {
    const registry = await fromStore(() => store.readRegistry())
    if (cached.state === stateOf(registry)) return send(cached)
  }
  const ready = await makeReady(await make(), coding, request)
  answers.set(key, ready)
  return send(ready)
}

/** Sends an answer that is made for each request, otherwise as `sendCached` does. */
export async function sendState(request: HttpRequest, answer: StateAnswer): Promise<HttpReply> {
  const coding = chooseCoding(request.headers['accept-encoding'])
  const ready = await makeReady(answer, coding, request)
  return sendReady(request, ready, ready)
}

/** What identifies a state of the registry, and how much of it was pruned. */
export function stateOf({ lineage, earliestVersion }: RegistryState): string {
  return `${lineage} ${earliestVersion}`
}

/**
 * @param accepted the coding that the client prefers.
 * @param request the only one that gets the body, if so: its key has a share of what is compressed.
 */
export async function makeReady(answer: StateAnswer, accepted: Coding, request?: HttpRequest) {
  const { text, registry, changedAt = registry.committedAt ?? 0 } = answer
  const { link, headers } = answer
  const plain = typeof text === 'string' ? Buffer.from(text) : text
  const digest = hash('sha256', answer.identity ?? plain, 'base64url')
  const coding = isWorthCoding(plain) ? accepted : 'identity'
  const body = await (request ? compress(request, plain, coding) : encode(plain, coding))
  if (body !== plain) giveBack(plain)
  return {
    /** Identifies the state of the registry that the answer was made from. */
    state: stateOf(registry),
    body,
    coding,
    tag: `W/"${digest}"`,
    dataVersion: answer.version ?? registry.version,
    changedAt,
    link,
    headers,
  }
}
