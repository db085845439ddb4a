// A rate limit as an operator writes it: a count per length of time.

/** At most `quota` times in a window of `seconds`. */
export interface Rate {
  readonly quota: number
  readonly seconds: number
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const quotaMax = 1_000_000_000
/** The longest window in seconds, and so the longest wait that a client is asked for. */
export const rateSecondsMax = 31 * 86_400

/** The form of a rate, for messages. */
export const rateForm = 'a count and a time such as 600/300s, 60/1m or 1000/1d'

/** Parses a rate such as 600/300s; undefined for other text, and for a window over 31 days. */
export function parseRate(text: string): Rate | undefined {
  const [, count = '', length = '', unit = ''] = /^(\d{1,10})\/(\d{1,7})([smhd])$/.exec(text) ?? []
  const quota = Number(count)
  const seconds = Number(length) * (secondsOf[unit] ?? NaN)
  const isRate = quota >= 1 && quota <= quotaMax && seconds >= 1 && seconds <= rateSecondsMax
  return isRate ? { quota, seconds } : undefined
}
