// Shared limits of several processes: one of them keeps the counts, the others ask it.

import type { Counted, Counter, SharedCounter } from './counter.ts'
import type { Throttle } from './throttle.ts'

/** Asks the process that keeps the counts; questions and answers must survive JSON. */
export type Ask = (topic: string, question: unknown) => Promise<unknown>

/** Creates the handlers for the process that keeps the counts. */
export function answerLimits(counter: Counter, throttle: Throttle | undefined) {
  return {
    'limits.count': (asked: unknown) => counter(...(asked as Parameters<Counter>)),
    'limits.wait': (asked: unknown) => {
      return throttle?.waitOf(...(asked as Parameters<Throttle['waitOf']>))
    },
    'limits.fail': (asked: unknown) => throttle?.fail(...(asked as Parameters<Throttle['fail']>)),
    'limits.good': (keyHash: unknown) => throttle?.noteGood(String(keyHash)),
  }
}

/** A counter in the other process; the result is undefined if that process does not answer. */
export function askCounter(ask: Ask): SharedCounter {
  return (...asked) =>
    ask('limits.count', asked).then(
      (counted) => counted as Counted,
      () => undefined,
    )
}

/** A throttle in the other process; if that process does not answer, no client has to wait. */
export function askThrottle(ask: Ask): Throttle {
  const secondsOf = (topic: string, attempt: unknown) =>
    ask(topic, attempt).then(
      (seconds) => (typeof seconds === 'number' ? seconds : undefined),
      () => undefined,
    )
  return {
    // JSON has no undefined; a text that is no address counts in the same way.
    waitOf: (address = '', ...keyHash) => secondsOf('limits.wait', [address, ...keyHash]),
    fail: (address = '', keyHash) =>
      secondsOf('limits.fail', keyHash === undefined ? [address] : [address, keyHash]),
    noteGood: (keyHash) => void ask('limits.good', keyHash).catch(() => undefined),
  }
}
