// The parameters of a query and of a body as words, by names.

import { isDeepStrictEqual } from 'node:util'
import { badRequest, invalid } from '../errors.ts'
import type { Given, Members } from './members.ts'

/** The values of each parameter, as words. */
export type Words = ReadonlyMap<string, readonly string[]>

/** Throws an ApiError for a name that is not known; `kind` is as in `unknownName`. */
export type NameCheck = (name: string, kind: string) => void

interface Collected {
  readonly check: NameCheck
  /** Parameters of others, which are ignored here. */
  readonly ignored?: readonly string[]
  /** Whether a parameter takes several values, and null: a list and null in a body. */
  readonly takesList?: (name: string) => boolean
}

/**
 * What a query and a body give, by names, where both mean the same (contract 1.2).
 *
 * @throws ApiError 400 for what `check` refuses, a value that is no word, or two that differ.
 */
export function collectWords(
  { query, body }: Given,
  { check, ignored = [], takesList }: Collected,
): Words {
  const given = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(query)) {
    if (ignored.includes(name)) continue
    check(name, 'query parameter')
    given.set(name, wordsOf(name, value))
  }
  if (body === undefined) return given
  const inBody = new Set<string>()
  for (const [name, value] of bodyValues(body, ignored)) {
    check(name, 'body member')
    const isOneValue = value !== null && !Array.isArray(value)
    if (!isOneValue && takesList?.(name) !== true) throw invalid(name, value, takesOne)
    // A bound has two forms in a body.
    if (inBody.has(name)) throw badRequest(`${name} is given more than once; ${takesOne}`)
    inBody.add(name)
    const words = wordsOf(name, value)
    const inQuery = given.get(name)
    if (inQuery !== undefined && !areSame(inQuery, words)) {
      throw badRequest(`${name} differs between the query and the body; give only one`)
    }
    given.set(name, words)
  }
  return given
}

const takesOne = 'it takes one value'

/** The members of a body, except ignored ones, under the names that they have in a query. */
function* bodyValues(body: Members, ignored: readonly string[]): Iterable<[string, unknown]> {
  for (const [name, value] of Object.entries(body)) {
    if (ignored.includes(name)) continue
    const isOne = typeof value !== 'object' || value === null || Array.isArray(value)
    // A number as it is written (`readBody`) is no object with bounds.
    if (isOne || 'rawJSON' in value) {
      yield [name, value]
      continue
    }
    const bounded = Object.entries(value)
    if (bounded.length === 0) throw invalid(name, value, 'an object takes bounds, such as gte')
    for (const [bound, word] of bounded) yield [boundName(name, bound), word]
  }
}

export function boundName(field: string, bound: string): string {
  return `${field}[${bound}]`
}

/** A parameter's values; null in a body is empty in a query. */
function wordsOf(name: string, value: unknown): string[] {
  const values = Array.isArray(value) ? (value as unknown[]) : [value]
  return values.map((one) => {
    if (one === null) return ''
    if (typeof one === 'string') return one
    if (typeof one === 'number' && Number.isSafeInteger(one)) return String(one)
    throw invalid(name, one, 'it takes text, an integer in plain digits, or null')
  })
}

/** Whether a query and a body give the same values, in whatever order. */
export function areSame(inQuery: readonly string[], inBody: readonly string[]): boolean {
  return isDeepStrictEqual(distinct(inQuery), distinct(inBody))
}

/** The words in one order, each once. */
export function distinct(words: readonly string[]): readonly string[] {
  return words.length === 1 ? words : [...new Set(words)].sort()
}

/** The only word of a parameter that takes one. @throws ApiError 400 if there are several. */
export function singleWord(given: Words, name: string): string | undefined {
  const words = given.get(name)
  if (words === undefined) return undefined
  if (words.length > 1) throw badRequest(`${name} is given more than once; ${takesOne}`)
  return words[0]
}
