// From values to places on the screen, and the ticks between them.

import { language } from '../texts.ts'

export interface Scale {
  readonly from: number
  readonly to: number
  /** The place of a value. */
  readonly at: (value: number) => number
  /** The value at a place. */
  readonly valueAt: (place: number) => number
}

/** Places `from` at `left` and `to` at `right`. */
export function scaleOf(from: number, to: number, left: number, right: number): Scale {
  const span = to - from || 1
  const width = Math.max(1, right - left)
  return {
    from,
    to,
    at: (value) => left + ((value - from) / span) * width,
    valueAt: (place) => from + ((place - left) / width) * span,
  }
}

interface Tick {
  readonly value: number
  readonly label: string
}

/** A day, in milliseconds. */
export const dayMs = 86_400_000
const monthMs = 30.4 * dayMs
const ticksMax = 100
const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' })
const yearLabel = format({ year: 'numeric' })
const monthLabel = format({ year: 'numeric', month: 'short' })
const dayLabel = format({ day: 'numeric', month: 'short' })

/** About as many ticks of time as asked for, at the beginnings of years, months or days. */
export function timeTicks({ from, to }: Scale, count: number): readonly Tick[] {
  const step = (to - from) / Math.max(1, count)
  if (step > monthMs) {
    const steps = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000]
    return monthTicks(from, to, steps.find((n) => n * monthMs >= step) ?? 24_000)
  }
  const days = [1, 2, 5, 10, 15].find((n) => n * dayMs >= step) ?? 30
  const first = Math.ceil(from / dayMs) * dayMs
  const length = Math.max(0, Math.floor((to - first) / (days * dayMs)) + 1)
  return Array.from({ length: Math.min(length, ticksMax) }, (_, n) => {
    const value = first + n * days * dayMs
    return { value, label: dayLabel.format(value) }
  })
}

function monthTicks(from: number, to: number, months: number): Tick[] {
  const label = months < 12 ? monthLabel : yearLabel
  const start = new Date(from)
  const first = Math.floor((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months
  const ticks: Tick[] = []
  for (let month = first; ticks.length < ticksMax; month += months) {
    // Unlike Date.UTC, this takes the years 0 to 99 as they are.
    const value = new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1)
    if (value > to || Number.isNaN(value)) break
    if (value >= from) ticks.push({ value, label: label.format(value) })
  }
  return ticks
}
