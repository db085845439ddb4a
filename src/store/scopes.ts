// The scopes of keys: what a key may read (contract 7).

/** The scope for finding companies, and for a company as a whole. */
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
