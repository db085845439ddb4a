// The parameters that select from a listing: filters, order, and version (contract sections 9, 10).

import { filterFields, sortFields } from '../../resources/filters.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Moment } from '../../store/reading.ts'
import type { Filter, Interval, SortOrder } from '../../store/selection.ts'
import { badRequest, invalid } from '../errors.ts'
import { type Bound, bounds, intervalOf, parseDay, parseMoment, takenBy } from './filter-values.ts'
import { checkName, type Given, noSuchName, unknownName } from './members.ts'
import {
  boundName,
  collectWords,
  distinct,
  type NameCheck,
  singleWord,
  type Words,
} from './request-words.ts'

/** How many values a filter may be given, repetitions included (contract 10.2). */
export const valuesMax = 20

/** What a request selects. */
export interface SelectionParameters {
  readonly filters: readonly Filter[]
  /** Undefined for the usual order, however the request names it. */
  readonly sort: SortOrder | undefined
  readonly version: number | Moment | undefined
  /** The filters and the order as a query in canonical form, after the parameters before them. */
  readonly query: string
}

export const selectsNothing: SelectionParameters = {
  filters: [],
  sort: undefined,
  version: undefined,
  query: '',
}

/** The parameters that name a version; at most one of them is given. */
const versionParameters = ['version', 'as_of', 'known_at'] as const
const currentOn = 'current_on'
const sortName = 'sort'

/** The names of the parameters of a resource, without bounds. */
export function selectionNames(resource: Resource): readonly string[] {
  return [...versionParameters, ...filterNames(resource), sortName]
}

function filterNames(resource: Resource): readonly string[] {
  return resource.period ? [...filterFields(resource), currentOn] : filterFields(resource)
}

/**
 * Parses what a query and a body select, where both mean the same (contract 1.2).
 *
 * @param known names of other parameters, which are ignored here.
 * @throws ApiError 400 that names what is unknown or wrong, and what is allowed.
 */
export function parseSelection(
  resource: Resource,
  given: Given,
  known: readonly string[],
): SelectionParameters {
  const check = nameCheckOf(resource, known)
  const takesList = (name: string) => filterFields(resource).includes(name)
  return selectionOf(resource, collectWords(given, { check, ignored: known, takesList }))
}

/**
 * Parses the parameters that name a version, where there are no others (contract 9.1, 9.2).
 *
 * @throws ApiError as `parseSelection`.
 */
export function parseVersion(given: Given): number | Moment | undefined {
  const check: NameCheck = (name, kind) => checkName(name, kind, versionParameters)
  return versionOf(collectWords(given, { check }))
}

/** Makes the check of the names of a resource's parameters; `known` are others. */
function createNameCheck(resource: Resource, known: readonly string[]): NameCheck {
  const fields = filterFields(resource)
  const names = [...known, ...selectionNames(resource)]
  const isRange = (field: string) => resource.fields[field]?.filter === 'range'
  const bounded = fields
    .filter(isRange)
    .flatMap((field) => bounds.map((bound) => boundName(field, bound)))
  const all = new Set([...names, ...bounded])
  const boundsOf = (field: string, name: string) => {
    // Many clients write a list in this way.
    if (name === `${field}[]`) return `for any of several values, repeat ${field}`
    return isRange(field) ? `bounds are ${bounds.join(', ')}` : `${field} has no bounds`
  }
  return (name, kind) => {
    if (all.has(name)) return
    const field = fieldOf(name)
    if (name !== field && fields.includes(field)) {
      throw noSuchName(name, kind, boundsOf(field, name))
    }
    // The name of a field that is not a filter is no typing error.
    if (Object.hasOwn(resource.fields, field)) {
      throw noSuchName(
        name,
        kind,
        `filters of ${resource.name} are ${filterNames(resource).join(', ')}`,
      )
    }
    throw unknownName(name, kind, [...all], names)
  }
}

const nameChecks = new WeakMap<Resource, NameCheck>()

/** The check of a resource, made once: that takes longer than all else of a request's parsing. */
function nameCheckOf(resource: Resource, known: readonly string[]): NameCheck {
  return nameChecks.getOrInsertComputed(resource, () => createNameCheck(resource, known))
}

function selectionOf(resource: Resource, given: Words): SelectionParameters {
  const version = versionOf(given)
  if (version !== undefined && given.size === 1) return { ...selectsNothing, version }
  const filters: Filter[] = []
  let sort: SortOrder | undefined
  let query = ''
  let ranged = ''
  // Whatever the order in a request, the same selection has one cache key and one view.
  for (const name of [...given.keys()].sort()) {
    if (isVersionName(name)) continue
    const all = given.get(name) ?? []
    const words = distinct(all)
    const field = fieldOf(name)
    if (name === sortName) {
      sort = sortOf(resource, singleWord(given, name))
      if (sort === undefined) continue
    } else if (name === currentOn) {
      filters.push(...currentFilters(resource, singleWord(given, name)))
    } else if (name === field) {
      checkCount(field, all.length)
      filters.push(valueFilter(resource, field, words))
    } else if (field !== ranged) {
      // The bounds of a field follow each other.
      ranged = field
      filters.push(rangeFilter(resource, field, given))
    }
    query += queryOf(name, words)
  }
  return { filters, sort, version, query }
}

const isVersionName = (name: string) => (versionParameters as readonly string[]).includes(name)

/** Parameters in canonical form, after others. */
function queryOf(name: string, words: readonly string[]): string {
  const start = `&${encodeURIComponent(name)}=`
  return words.map((word) => start + encodeURIComponent(word)).join('')
}

function checkCount(field: string, count: number): void {
  if (count >= 1 && count <= valuesMax) return
  throw badRequest(`${field} has ${count} values; it takes 1 to ${valuesMax}`)
}

function valueFilter(resource: Resource, field: string, values: readonly string[]): Filter {
  const anyOf = values.map((word) =>
    word === '' ? null : intervalFor(resource, field, word, undefined),
  )
  return { field, anyOf }
}

function rangeFilter(resource: Resource, field: string, given: Words): Filter {
  const range: { from: Interval['from']; to: Interval['to'] } = { from: undefined, to: undefined }
  for (const bound of bounds) {
    const word = singleWord(given, boundName(field, bound))
    if (word === undefined) continue
    const side = bound.startsWith('g') ? 'from' : 'to'
    if (range[side] !== undefined) {
      const kinds = side === 'from' ? 'gte and gt' : 'lte and lt'
      throw badRequest(`${field} has two bounds on one side, ${kinds}; give one of them`)
    }
    range[side] = intervalFor(resource, field, word, bound)[side]
  }
  return { field, anyOf: [range] }
}

/** The field in the name of a parameter, with a bound or without one. */
function fieldOf(name: string): string {
  return name.split('[', 1)[0] ?? name
}

function intervalFor(
  { fields }: Resource,
  field: string,
  word: string,
  bound: Bound | undefined,
): Interval {
  const kind = fields[field]?.kind ?? 'text'
  const interval = intervalOf(kind, word, bound)
  if (interval !== undefined) return interval
  throw invalid(bound === undefined ? field : boundName(field, bound), word, takenBy(kind))
}

/** Began by that day or at an unknown one, and not ended before it (contract 10.3). */
function currentFilters(resource: Resource, day: string | undefined): Filter[] {
  const { period } = resource
  if (day === undefined || period === undefined) return []
  if (parseDay(day) === undefined) {
    throw invalid(currentOn, day, 'it takes a day such as 2019-01-31')
  }
  return [
    { field: period.from, anyOf: [null, intervalFor(resource, period.from, day, 'lte')] },
    { field: period.to, anyOf: [null, intervalFor(resource, period.to, day, 'gte')] },
  ]
}

function sortOf(resource: Resource, word: string | undefined): SortOrder | undefined {
  if (word === undefined) return undefined
  const isDescending = word.startsWith('-')
  const field = isDescending ? word.slice(1) : word
  const known = sortFields(resource)
  if (!known.includes(field)) {
    const allowed = known.map((name) => `${name} or -${name}`).join(', ')
    throw invalid(sortName, word, `it takes ${allowed}`)
  }
  const direction = isDescending ? 'descending' : 'ascending'
  const { order } = resource
  return field === order.by && direction === order.direction ? undefined : { field, direction }
}

function versionOf(given: Words): number | Moment | undefined {
  const named = versionParameters.filter((name) => given.has(name))
  const [name, another] = named
  if (name === undefined) return undefined
  if (another !== undefined) throw badRequest(`${named.join(' and ')} are given; give one of them`)
  const word = singleWord(given, name) ?? ''
  switch (name) {
    case 'version': {
      const version = /^[1-9]\d{0,15}$/.test(word) ? Number(word) : NaN
      if (Number.isSafeInteger(version)) return version
      throw invalid(name, word, 'it takes the number of a version, an integer from 1 on')
    }
    case 'as_of':
      if (parseDay(word) !== undefined) return { asOf: word }
      throw invalid(name, word, 'it takes a day such as 2024-01-31')
    case 'known_at': {
      const knownAt = parseMoment(word)
      if (knownAt !== undefined) return { knownAt }
      throw invalid(name, word, 'it takes a moment such as 2024-01-31T12:00:00Z')
    }
  }
}
