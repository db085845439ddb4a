// A request and its reply, as stages and endpoints see them: thin wrappers of Node's own, since
// each request makes both.

import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RateVerdict } from '../../auth/rate-limit.ts'
import type { KeyRecord } from '../../store/keys.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Client } from './client.ts'
import { endTogether } from './end-together.ts'

/** What the router has found for the target of a request. */
export interface Target {
  /** Undefined if nothing is at the path. */
  readonly endpoint: Endpoint | undefined
  /** The parts of the path that the endpoint names, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** The query by names; a repeated parameter has a list of texts. */
  readonly query: Readonly<Record<string, unknown>>
  /** Whether the target cannot be decoded. */
  readonly isMalformed: boolean
}

const requestIdPattern = /^[A-Za-z0-9._-]{1,64}$/

/** The client's own id if it is harmless, else a random one (contract section 5). */
export function requestIdOf(raw: IncomingMessage | undefined): string {
  const given = raw?.headers['x-request-id']
  return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID()
}

/** A request, with its reply. */
export class HttpRequest {
  readonly raw: IncomingMessage
  readonly reply: HttpReply
  readonly id: string
  readonly target: Target
  readonly endpoint: Endpoint | undefined
  readonly method: string
  /** The target as the client wrote it. */
  readonly url: string
  /** The key of the request, once it has been found valid. */
  key: KeyRecord | undefined
  /** What is left of the rate limit of its key; undefined if that has none. */
  rate: RateVerdict | undefined
  private readonly client: Client

  constructor(raw: IncomingMessage, reply: HttpReply, id: string, target: Target, client: Client) {
    this.raw = raw
    this.reply = reply
    this.id = id
    this.target = target
    this.endpoint = target.endpoint
    this.method = raw.method ?? ''
    this.url = raw.url ?? ''
    this.client = client
  }

  /** By lower-case names. */
  get headers(): IncomingHttpHeaders {
    return this.raw.headers
  }

  get socket(): Socket {
    return this.raw.socket
  }

  /** The client's address; undefined if its connection has just closed. */
  get ip(): string | undefined {
    return this.client.addressOf(this.raw)
  }

  /** The scheme with which the client has reached the service, or a trusted proxy. */
  get protocol(): 'http' | 'https' {
    return this.client.protocolOf(this.raw)
  }
}

/** The reply to a request, until it is sent. */
export class HttpReply {
  readonly raw: ServerResponse
  statusCode = 200
  /** The bytes of a streamed body that have been sent so far; undefined for other bodies. */
  streamedBytes: number | undefined
  private readonly fields: Record<string, string | number> = {}
  private readonly begunAt = performance.now()

  constructor(raw: ServerResponse) {
    this.raw = raw
  }

  code(status: number): this {
    this.statusCode = status
    return this
  }

  /** Sets a header field, in place of one of that name. @param name in lower case. */
  header(name: string, value: string | number): this {
    this.fields[name] = value
    return this
  }

  headers(fields: Readonly<Record<string, string | number>>): this {
    Object.assign(this.fields, fields)
    return this
  }

  getHeader(name: string): string | number | undefined {
    return this.fields[name]
  }

  /** Milliseconds since the request arrived. */
  get elapsedTime(): number {
    return performance.now() - this.begunAt
  }

  /** Sends the complete reply; for HEAD, Node leaves the body out. 204 and 304 have none. */
  send(body?: string | Buffer): this {
    if (body !== undefined) this.fields['content-length'] = Buffer.byteLength(body)
    this.raw.writeHead(this.statusCode, this.fields)
    endTogether(this.raw, body)
    return this
  }

  /** Sends the fields before a body that is written as it is made. */
  beginBody(): ServerResponse {
    return this.raw.writeHead(this.statusCode, this.fields)
  }

  /** Does work once the reply has been sent or its client has left, which may be now. */
  onClosed(work: () => void): void {
    if (this.raw.destroyed) work()
    else this.raw.once('close', work)
  }
}
