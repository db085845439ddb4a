// Shared limits of several processes: one of them keeps the counts, the others ask it.

import type { Rate } from '../config/rate.ts'
import type { Counted, Counter, SharedCounter } from './counter.ts'
import type { Throttle } from './throttle.ts'

/** Asks the process that keeps the counts; questions and answers must survive JSON. */
export type Ask = (topic: string, question: unknown) => Promise<unknown>

interface CountQuestion extends Rate {
  readonly keyId: number
}

/** An attempt with a key, and its client's address. */
interface Attempt {
  readonly address?: string | undefined
  readonly keyHash?: string | undefined
}

/** Creates the handlers for the process that keeps the counts. */
export function answerLimits(counter: Counter, throttle: Throttle | undefined) {
  return {
    'limits.count': (question: unknown) => {
      const { keyId, quota, seconds } = question as CountQuestion
      return counter(keyId, { quota, seconds })
    },
    'limits.wait': (question: unknown) => {
      const { address, keyHash = '' } = question as Attempt
      return throttle?.waitOf(address, keyHash)
    },
    'limits.fail': (question: unknown) => {
      const { address, keyHash } = question as Attempt
      return throttle?.fail(address, keyHash)
    },
    'limits.good': (keyHash: unknown) => throttle?.noteGood(String(keyHash)),
  }
}

/** A counter in the other process; the result is undefined if that process does not answer. */
export function askCounter(ask: Ask): SharedCounter {
  return (keyId, rate) =>
    ask('limits.count', { keyId, ...rate } satisfies CountQuestion).then(
      (counted) => counted as Counted,
      () => undefined,
    )
}

/** A throttle in the other process; if that process does not answer, no client has to wait. */
export function askThrottle(ask: Ask): Throttle {
  const secondsOf = (topic: string, attempt: Attempt) =>
    ask(topic, attempt).then(
      (seconds) => (typeof seconds === 'number' ? seconds : undefined),
      () => undefined,
    )
  return {
    waitOf: (address, keyHash) => secondsOf('limits.wait', { address, keyHash }),
    fail: (address, keyHash) => secondsOf('limits.fail', { address, keyHash }),
    noteGood: (keyHash) => void ask('limits.good', keyHash).catch(() => undefined),
  }
}
