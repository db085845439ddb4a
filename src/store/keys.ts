// The interfaces for keys, for their scopes (contract 7), and for counting their use, independent
// of the database. Uses are in a file of their own, which gives no access to the registry, so that
// serving has no write path to it.

import type { Awaitable } from './awaitable.ts'

/** A stored key: everything but the key itself. */
export interface KeyRecord {
  readonly id: number
  readonly name: string
  /** The first and last characters of the key, for recognising it. */
  readonly hint: string
  /** What it may read (`allScopes`); undefined for what a key without a list may read. */
  readonly scopes: readonly string[] | undefined
  readonly createdAt: number
  /** Milliseconds since 1970; undefined for never. */
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** The key's rate limit, such as 600/300s, or `none`; undefined for the server's default. */
  readonly rate: string | undefined
}

export interface NewKey extends Omit<KeyRecord, 'id' | 'revokedAt'> {
  readonly hash: Uint8Array
}

/** A key that replaces others of the same name. */
export interface Rotation {
  /** Scopes and rate are copied from the replaced key. */
  readonly key: Omit<NewKey, 'scopes' | 'rate'>
  /** When all other keys of the name expire at the latest, in milliseconds since 1970. */
  readonly othersEndAt: number
}

/** Hands over a stored key; if it throws, the key is removed again. */
export type HandOver = () => Awaitable<void>

/** The use of a key within one hour, or a part of it. */
export interface KeyUse {
  readonly keyId: number
  /** Hours since 1970. */
  readonly hour: number
  readonly requests: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
}

/** The recorded use of a key. */
export interface KeyUsage {
  readonly keyId: number
  /** Milliseconds since 1970. */
  readonly lastUsedAt: number
  /** Requests of this hour and the 23 before it. */
  readonly requestsLastDay: number
  /** Requests of this hour and the 719 before it. */
  readonly requestsLast30Days: number
}

/** The hour since 1970 of a moment in milliseconds. */
export function hourOf(moment: number): number {
  return Math.floor(moment / 3_600_000)
}

/** The hour since 1970 with which the day of an hour began, in UTC. */
export function midnightOf(hour: number): number {
  return hour - (hour % 24)
}

export interface KeyUses {
  /** Requests since midnight UTC. */
  readonly today: number
  /** Requests of this hour and the 719 before it. */
  readonly last30Days: number
}

/** The scope for finding companies, and for reading a company as a whole. */
export const companiesScope = 'companies'

/**
 * Scopes for copying the registry. A key has one only if it was named when the key was made: a key
 * without a list of scopes does not have them.
 */
export const namedScopes = ['changes', 'exports'] as const

/** The scopes of a key without a list. */
export function impliedScopes(listings: readonly string[]): readonly string[] {
  return [companiesScope, ...listings]
}

/** Every scope, in the order in which they are shown. */
export function allScopes(listings: readonly string[]): readonly string[] {
  return [...impliedScopes(listings), ...namedScopes]
}

/** Whether a key has a scope; `scopes` is undefined for a key without a list. */
export function hasScope(scopes: readonly string[] | undefined, scope: string): boolean {
  if (scopes !== undefined) return scopes.includes(scope)
  return !namedScopes.some((name) => name === scope)
}
