// One set of limits for several processes: one of them keeps the counts, the others ask it.

import type { Rate } from '../rate.ts'
import type { Counted, Counter, SharedCounter } from './counter.ts'
import type { Throttle } from './throttle.ts'

/** Asks the process that keeps the counts; what is asked and answered survives JSON. */
export type Ask = (topic: string, question: unknown) => Promise<unknown>

/** What that process answers, by topic. */
export type Answers = Readonly<Record<string, (question: unknown) => unknown>>

interface CountQuestion extends Rate {
  readonly keyId: number
}

/** The answers of the process that keeps the counts. */
export function answerLimits(counter: Counter, throttle: Throttle | undefined): Answers {
  return {
    'limits.count': (question) => {
      const { keyId, quota, seconds } = question as CountQuestion
      return counter(keyId, { quota, seconds })
    },
    'limits.wait': (address) => throttle?.waitOf(address as string | undefined),
    'limits.fail': (address) => throttle?.fail(address as string | undefined),
  }
}

/** Counts at the process that is asked; where it does not answer, whoever asks is on its own. */
export function askCounter(ask: Ask): SharedCounter {
  return (keyId, rate) =>
    ask('limits.count', { keyId, ...rate } satisfies CountQuestion).then(
      (counted) => counted as Counted,
      () => undefined,
    )
}

/** A throttle at the process that is asked; where it does not answer, nobody has to wait. */
export function askThrottle(ask: Ask): Throttle {
  const secondsOf = (topic: string) => (address: string | undefined) =>
    ask(topic, address).then(
      (seconds) => (typeof seconds === 'number' ? seconds : undefined),
      () => undefined,
    )
  return { waitOf: secondsOf('limits.wait'), fail: secondsOf('limits.fail') }
}
