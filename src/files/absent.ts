// Whether a file exists, where "no" must not be a guess.

import { statSync } from 'node:fs'

/**
 * Whether nothing has a path; `existsSync` also says so of what this user cannot look up.
 *
 * @throws the system's error if this user cannot tell, as in a folder that must not be entered.
 */
export function isAbsent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) === undefined
}
