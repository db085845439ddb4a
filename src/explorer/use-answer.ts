// Answers in components: what was shown stays until the next answer is there.

import { useEffect, useState } from 'preact/hooks'
import { type Answer, ask, Failure, movedOn, type Wait } from './api.ts'

/** The state of a request. */
export interface Loaded<Value> {
  /** The last value, which may be of the request before. */
  readonly value: Value | undefined
  readonly isLoading: boolean
  readonly failure: Failure | undefined
  /** Set while the request waits for its turn. */
  readonly wait: Wait | undefined
  readonly retry: () => void
}

/** Does the work, and tells when it waits. */
export type Work<Value> = (
  signal: AbortSignal,
  onWait: (wait: Wait | undefined) => void,
) => Promise<Value>

interface State<Value> {
  readonly name: string | undefined
  readonly value: Value | undefined
  readonly failure: Failure | undefined
  readonly wait: Wait | undefined
}

const retryMs = 5_000

/**
 * Runs work whenever its name changes; undefined for none.
 *
 * @param name names everything that the work depends on.
 * @param family a former value is shown meanwhile only if its family is the same.
 */
export function useWork<Value>(
  name: string | undefined,
  family: string,
  work: Work<Value>,
): Loaded<Value> {
  const [attempt, setAttempt] = useState(0)
  const nothing = { name: undefined, value: undefined, failure: undefined, wait: undefined }
  const [held, setHeld] = useState<{ family: string; state: State<Value> }>({
    family,
    state: nothing,
  })
  const state = held.family === family ? held.state : nothing

  useEffect(() => {
    if (name === undefined) return undefined
    const abort = new AbortController()
    const update = (change: Partial<State<Value>>) => {
      if (abort.signal.aborted) return
      setHeld((last) => {
        const former = last.family === family ? last.state : nothing
        return { family, state: { ...former, ...change } }
      })
    }
    work(abort.signal, (wait) => update({ wait })).then(
      (value) => update({ name, value, failure: undefined, wait: undefined }),
      (error: unknown) => {
        const failure = error instanceof Failure ? error : new Failure('fault')
        // What a failure answers is not shown beside it, unless the service is merely away.
        const kept = failure.kind === 'offline' ? {} : { value: undefined }
        update({ name, failure, wait: undefined, ...kept })
      },
    )
    return () => abort.abort()
  }, [name, family, attempt])

  const isOffline = state.failure?.kind === 'offline'
  useEffect(() => {
    if (!isOffline) return undefined
    const again = () => setAttempt((last) => last + 1)
    const timer = setInterval(again, retryMs)
    addEventListener('online', again)
    return () => {
      clearInterval(timer)
      removeEventListener('online', again)
    }
  }, [isOffline])

  const { value, failure, wait } = state
  const isLoading = name !== undefined && state.name !== name
  return { value, isLoading, failure, wait, retry: () => setAttempt((last) => last + 1) }
}

/** The answer to a path; undefined for none. */
export function useAnswer<Body>(
  path: string | undefined,
  family = path ?? '',
): Loaded<Answer<Body>> {
  return useWork(path, family, (signal, onWait) => ask<Body>(path ?? '', { signal, onWait }))
}

/** As `useAnswer`, for what is of the present: asked again when the registry has moved on. */
export function usePresentAnswer<Body>(
  path: string | undefined,
  family = path ?? '',
): Loaded<Answer<Body>> {
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const next = () => setTurn((last) => last + 1)
    addEventListener(movedOn, next)
    return () => removeEventListener(movedOn, next)
  }, [])
  return useWork(path && `${path} ${turn}`, family, (signal, onWait) =>
    ask<Body>(path ?? '', { signal, onWait }),
  )
}
