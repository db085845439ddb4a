// Answers that are made for each request from one state of the registry, apart from pages of
// listings: their entity tag is that of their content.

import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RegistryState } from '../store/reading.ts'
import { matchesTag } from './page.ts'
import { setValidators } from './validators.ts'
import { chooseCoding, encode, isWorthCoding, varyByCoding } from './wire/coding.ts'

/** The content of an answer, and what its headers say. */
export interface StateAnswer {
  /** JSON. */
  readonly text: string
  /** What identifies the state besides the content, such as lineages. */
  readonly state?: string
  readonly registry: Pick<RegistryState, 'version' | 'committedAt'>
  /** When what it describes last changed, if that was before the last import. */
  readonly changedAt?: number
  readonly link?: string
}

/** Sends a 200 with the headers of contract section 5, or a 304. */
export async function sendState(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: StateAnswer,
): Promise<FastifyReply> {
  const { text, state = '', registry, changedAt = registry.committedAt ?? 0, link } = answer
  const tag = `W/"${hash('sha256', state + text, 'base64url')}"`
  const lastModified = new Date(changedAt).toUTCString()
  setValidators(varyByCoding(reply), { tag, dataVersion: registry.version, lastModified })
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
  void reply.header('content-type', 'application/json; charset=utf-8')
  if (link !== undefined) void reply.header('link', link)
  const body = Buffer.from(text)
  const wanted = chooseCoding(request.headers['accept-encoding'])
  const coding = isWorthCoding(body) ? wanted : 'identity'
  if (coding !== 'identity') void reply.header('content-encoding', coding)
  return reply.send(await encode(body, coding))
}
