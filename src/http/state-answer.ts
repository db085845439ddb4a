// Answers that tell of the registry's state, apart from pages of listings: their entity tag is that
// of their content.

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RegistryState } from '../store/reading.ts'
import type { Ready } from './answer-cache.ts'
import type { Service } from './endpoints/endpoint.ts'
import { fromStore } from './errors.ts'
import { matchesTag } from './page.ts'
import { setValidators } from './validators.ts'
import { chooseCoding, type Coding, encode, isWorthCoding, varyByCoding } from './wire/coding.ts'

/** The content of an answer, and what its headers say. */
export interface StateAnswer {
  /** JSON. */
  readonly text: string
  /** What identifies the state besides the content, such as lineages. */
  readonly state?: string
  readonly registry: RegistryState
  /** The version that was asked for, if it is not the last one. */
  readonly version?: number | undefined
  /** When what it describes last changed, if that was before the last import. */
  readonly changedAt?: number
  readonly link?: string | undefined
}

/** An answer that is ready to send. */
export interface ReadyState extends Ready {
  /** Identifies the state of the registry that the answer was made from. */
  readonly state: string
  readonly dataVersion: number
  readonly link: string | undefined
}

/**
 * Sends a 200 with the headers of contract section 5, or a 304: from the cache, if nothing has been
 * imported or pruned since the answer was made.
 *
 * @param form says what is asked, and by whom if the answer depends on it; it begins with the path.
 */
export async function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { store, states }: Pick<Service, 'store' | 'states'>,
  { form, make }: { readonly form: string; readonly make: () => Promise<StateAnswer> },
): Promise<FastifyReply> {
  const coding = chooseCoding(request.headers['accept-encoding'])
  const key = `${form} ${coding}`
  const cached = states.get(key)
  if (cached !== undefined) {
    const registry = await fromStore(() => store.readRegistry())
    if (cached.state === stateOf(registry)) return send(request, reply, cached)
  }
  const ready = await makeReady(await make(), coding)
  states.set(key, ready)
  return send(request, reply, ready)
}

/** Sends an answer that is made for each request, as `sendCached`. */
export async function sendState(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StateAnswer,
): Promise<FastifyReply> {
  const coding = chooseCoding(request.headers['accept-encoding'])
  return send(request, reply, await makeReady(answer, coding))
}

function stateOf({ lineage, earliestVersion }: RegistryState): string {
  return `${lineage} ${earliestVersion}`
}

async function makeReady(answer: StateAnswer, accepted: Coding): Promise<ReadyState> {
  const { text, state = '', registry, changedAt = registry.committedAt ?? 0, link } = answer
  const plain = Buffer.from(text)
  const coding = isWorthCoding(plain) ? accepted : 'identity'
  return {
    state: stateOf(registry),
    body: coding === 'identity' ? plain : await encode(plain, coding),
    coding,
    tag: `W/"${hash('sha256', state + text, 'base64url')}"`,
    dataVersion: answer.version ?? registry.version,
    lastModified: new Date(changedAt).toUTCString(),
    link,
  }
}

function send(request: FastifyRequest, reply: FastifyReply, ready: ReadyState): FastifyReply {
  const { body, coding, tag, dataVersion, lastModified, link } = ready
  setValidators(varyByCoding(reply), { tag, dataVersion, lastModified })
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  void reply.header('content-type', 'application/json; charset=utf-8')
  if (link !== undefined) void reply.header('link', link)
  if (coding !== 'identity') void reply.header('content-encoding', coding)
  return reply.send(body)
}
