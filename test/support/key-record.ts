// A key for tests in which no store has issued it.

import type { KeyRecord } from '../../src/store/keys.ts'

/** A key without a list of scopes, an end or a rate. */
export const keyRecord: KeyRecord = {
  id: 1,
  name: 'key',
  hint: '',
  scopes: undefined,
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
  rate: undefined,
}
