// What a request asks for: the company in its path, `page` and `limit` in its query and its body.

import { nearest } from '../nearest.ts'
import { withoutKeys } from '../redact.ts'
import { badRequest, invalid } from './errors.ts'

/** A page of a listing, as asked for. */
export interface PageRequest {
  readonly page: number
  readonly limit: number
}

/** A parameter: what it takes and what it is when absent (contract 1.3). */
export interface Parameter {
  readonly description: string
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}

/** The parameters of every listing. */
export const parameters: Readonly<Record<keyof PageRequest, Parameter>> = {
  page: {
    description: 'Page number',
    default: 1,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  limit: { description: 'Records per page', default: 100, minimum: 1, maximum: 1_000 },
}

const names = Object.keys(parameters) as (keyof PageRequest)[]
const decimalDigits = /^\d{1,16}$/
const positiveDigits = /^[1-9]\d{0,15}$/

/**
 * The company that a path names (contract 1.5).
 *
 * @throws ApiError 400 for anything but a positive integer up to 2^53-1 in plain decimal digits.
 */
export function parseCompanyId(segment: string): number {
  const companyId = positiveDigits.test(segment) ? Number(segment) : NaN
  if (Number.isSafeInteger(companyId)) return companyId
  throw invalid('company_id', segment, 'it takes an integer from 1 to 9007199254740991')
}

/**
 * The page that a request asks for (contract 1.2 to 1.4).
 *
 * @param query has a list of texts where a parameter is repeated.
 * @param body is the JSON object of the request's body; undefined where there is none.
 * @throws ApiError 400 that names the parameter, what it got and what it takes.
 */
export function parsePageRequest(
  query: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>> | undefined,
): PageRequest {
  for (const name in query) checkName(name, 'query parameter')
  if (body !== undefined) for (const name of Object.keys(body)) checkName(name, 'body member')
  return { page: parseParameter('page', query, body), limit: parseParameter('limit', query, body) }
}

function checkName(name: string, kind: string): void {
  if ((names as string[]).includes(name)) return
  const near = nearest(name, names)
  const advice = near ? `did you mean ${near}?` : `known are ${names.join(' and ')}`
  const shown = JSON.stringify(withoutKeys(name).slice(0, 60))
  throw badRequest(`${shown} is no known ${kind}; ${advice}`)
}

function parseParameter(
  name: keyof PageRequest,
  query: Readonly<Record<string, unknown>>,
  body: Readonly<Record<string, unknown>> | undefined,
): number {
  const inQuery = query[name]
  const inBody = body?.[name]
  if (Array.isArray(inQuery)) {
    throw badRequest(`${name} is given more than once; ${allowed(name)}`)
  }
  const fromQuery = inQuery === undefined ? undefined : parseValue(name, inQuery)
  const fromBody = inBody === undefined ? undefined : parseValue(name, inBody)
  if (fromQuery !== undefined && fromBody !== undefined && fromQuery !== fromBody) {
    throw badRequest(`${name} is ${fromQuery} in the query and ${fromBody} in the body; give one`)
  }
  return fromQuery ?? fromBody ?? parameters[name].default
}

function parseValue(name: keyof PageRequest, value: unknown): number {
  const { minimum, maximum } = parameters[name]
  const number =
    typeof value === 'number' || (typeof value === 'string' && decimalDigits.test(value))
      ? Number(value)
      : NaN
  if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number
  throw invalid(name, value, allowed(name))
}

function allowed(name: keyof PageRequest): string {
  return `it takes an integer from ${parameters[name].minimum} to ${parameters[name].maximum}`
}
