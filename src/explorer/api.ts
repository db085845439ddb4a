// Requests to the service, with the endpoints and answers that every client has.

import { heldKey } from './key/key.ts'

/** What went wrong, for a reader. */
type FailureKind = 'key' | 'scope' | 'missing' | 'gone' | 'invalid' | 'offline' | 'fault'

/** A request that was not answered as asked; its message is a sentence of the service, or empty. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly kind: FailureKind

  constructor(kind: FailureKind, message = '') {
    super(message)
    this.kind = kind
  }
}

/** What was thrown, as a failure; anything unforeseen is a fault. */
export function failureFrom(error: unknown): Failure {
  return error instanceof Failure ? error : new Failure('fault')
}

/** An answer, with what its headers state. */
export interface Answer<Body> {
  readonly body: Body
  /** The path that was asked for, with its query. */
  readonly path: string
  /** The version of the registry that it was read from. */
  readonly version: number | undefined
  /** Whether the registry has moved on since that version. */
  readonly isPast: boolean
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number
}

/** A pause that the service asks for, after which the request is sent again. */
export interface Wait {
  /** Milliseconds since 1970. */
  readonly until: number
  /** Whether the service is overloaded; else the key has no requests left. */
  readonly isBusy: boolean
}

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Called when the service asks to wait, and when the wait has ended. */
  readonly onWait?: (wait: Wait | undefined) => void
}

/** The counters of every answer. */
export interface Counters {
  readonly total: number
  readonly pagination_total: number
  readonly pagination_offset: number
}

/** The event for a new version of the registry while the page is open. */
export const movedOn = 'dossier:moved-on'

/** The event for a version that turned out to be no longer kept. */
export const pruned = 'dossier:pruned'

let newest = 0

const prefix = 'api/v1/'
/** The path at which the service describes the key. */
export const keyPath = 'key'
const waitMsMax = 60_000
const kinds: Readonly<Record<number, FailureKind>> = {
  400: 'invalid',
  403: 'scope',
  404: 'missing',
  410: 'gone',
  // The address is too long, for the service or for a proxy before it.
  414: 'invalid',
  431: 'invalid',
}

/** The address of a path of the API; the page may be served behind any prefix. */
export function urlOf(path: string): URL {
  return new URL(prefix + path, location.href.split('#', 1)[0])
}

/**
 * Asks for a path such as `companies/1`; if the key has no requests left or the service is
 * overloaded, waits and continues by itself.
 *
 * @throws Failure for any answer but a 200.
 */
export async function ask<Body>(path: string, options: AskOptions = {}): Promise<Answer<Body>> {
  const response = await send(path, options)
  const body = await readBody(response, options.signal)
  if (body === undefined) throw new Failure('fault')
  const given = response.headers.get('data-version')
  const version = given === null ? undefined : Number(given)
  const isPast = response.headers.get('link')?.includes('rel="latest-version"') ?? false
  if (!isPast) noteVersion(version ?? 0)
  return { body: body as Body, path, version, isPast, at: Date.now() }
}

/** The failure that an unsuccessful answer means. */
async function failureOf(response: Response, path: string, options: AskOptions): Promise<Failure> {
  const kind = kinds[response.status] ?? 'fault'
  if (kind === 'scope' && path === keyPath) return new Failure('key')
  // A refusal does not say why (contract 2.2), and the page may have been open since before the
  // version was pruned; the answer about the key itself tells both.
  if (kind === 'scope' || kind === 'gone') await ask(keyPath, options)
  if (kind === 'gone') dispatchEvent(new Event(pruned))
  const body = await readBody(response, options.signal)
  const said = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return new Failure(kind, typeof said === 'string' ? said.replace(/[^?]$/, '$&.') : '')
}

/** Reports the first answer of a later version. */
function noteVersion(version: number): void {
  if (version <= newest) return
  const isFirst = newest === 0
  newest = version
  if (!isFirst) dispatchEvent(new Event(movedOn))
}

/** The answer to a path as a file, such as one with `format=csv`. @throws Failure as `ask` does. */
export async function download(path: string, options: AskOptions): Promise<Blob> {
  const response = await send(path, options, '*/*')
  return response.blob().catch(() => notReached(options.signal))
}

/** The response to a request, after any waits. @throws Failure if it is unsuccessful. */
async function send(
  path: string,
  options: AskOptions,
  accept = 'application/json',
): Promise<Response> {
  const { signal, onWait } = options
  const headers = { accept, authorization: `Bearer ${heldKey() ?? ''}` }
  for (;;) {
    const asked = fetch(urlOf(path), { headers, signal: signal ?? null })
    const response = await asked.catch(() => notReached(signal))
    if (response.ok) return response
    if (response.status !== 429 && response.status !== 503)
      throw await failureOf(response, path, options)
    // A proxy may give a date instead of seconds.
    const seconds = Number(response.headers.get('retry-after')) || 1
    const waitMs = Math.min(Math.max(1, seconds) * 1_000, waitMsMax)
    onWait?.({ until: Date.now() + waitMs, isBusy: response.status === 503 })
    await pause(waitMs, signal)
    onWait?.(undefined)
  }
}

/** The body of an answer; undefined if it is not JSON, such as a page of a proxy. */
async function readBody(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    return error instanceof SyntaxError ? undefined : notReached(signal)
  }
}

/** Throws the failure of a request that was not answered, or not completely. */
function notReached(signal: AbortSignal | undefined): never {
  signal?.throwIfAborted()
  throw new Failure('offline')
}

/** Waits; rejects immediately, with the signal's reason, when it is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
