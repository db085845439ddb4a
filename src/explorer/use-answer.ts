// Answers in components: the last one is shown until the next one has arrived.

import { useEffect, useState } from 'preact/hooks'
import { type Answer, ask, type Failure, failureFrom, movedOn, type Wait } from './api.ts'
import { useEvent } from './use-event.ts'

/** The state of a request. */
export interface Loaded<Value> {
  /** The last value, which may be that of the previous request. */
  readonly value: Value | undefined
  readonly isLoading: boolean
  readonly failure: Failure | undefined
  /** Set while the request waits because the service has asked for it. */
  readonly wait: Wait | undefined
  readonly retry: () => void
}

/** Does the work, and reports when it waits. */
export type Work<Value> = (
  signal: AbortSignal,
  onWait: (wait: Wait | undefined) => void,
) => Promise<Value>

/** What is known of the last work that has reported anything. */
interface State<Value> {
  readonly family: string
  readonly name?: string | undefined
  /** The last finished attempt at it. */
  readonly over?: number
  readonly value?: Value | undefined
  readonly failure?: Failure | undefined
  readonly wait?: Wait | undefined
}

const retryMs = 5_000

/**
 * Runs work whenever its name changes; undefined for none. The newest work wins: results, failures
 * and waits of earlier ones are not shown.
 *
 * @param name names everything on which the work depends.
 * @param family a former value is shown meanwhile only if its family is the same.
 */
export function useWork<Value>(
  name: string | undefined,
  family: string,
  work: Work<Value>,
): Loaded<Value> {
  const [attempt, setAttempt] = useState(0)
  const retry = () => setAttempt((last) => last + 1)
  const [held, setHeld] = useState<State<Value>>({ family })
  const { value, ...told } = held.family === family ? held : { family }
  const { over, failure, wait } = told.name === name ? told : {}

  useEffect(() => {
    if (name === undefined) return undefined
    const abort = new AbortController()
    const update = (change: Partial<State<Value>>) => {
      if (abort.signal.aborted) return
      setHeld((last) => {
        const former = last.family === family ? last.value : undefined
        return { family, name, value: former, ...change }
      })
    }
    work(abort.signal, (waiting) => update({ wait: waiting })).then(
      (found) => update({ value: found, over: attempt }),
      (error: unknown) => {
        const reason = failureFrom(error)
        // A failure replaces the former value, unless the service is merely away.
        const kept = reason.kind === 'offline' ? {} : { value: undefined }
        update({ failure: reason, over: attempt, ...kept })
      },
    )
    return () => abort.abort()
  }, [name, family, attempt])

  const isLoading = name !== undefined && over !== attempt
  const isAway = failure?.kind === 'offline' && !isLoading
  useEffect(() => {
    if (!isAway) return undefined
    const timer = setTimeout(retry, retryMs)
    addEventListener('online', retry)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', retry)
    }
  }, [isAway])

  return { value, isLoading, failure, wait, retry }
}

/** The answer to a path, undefined for none; asked again when the registry has moved on. */
export function useAnswer<Body>(
  path: string | undefined,
  family = path ?? '',
): Loaded<Answer<Body>> {
  const loaded = useWork(path, family, (signal, onWait) =>
    ask<Body>(path ?? '', { signal, onWait }),
  )
  useEvent(movedOn, loaded.retry)
  return loaded
}
