// The scopes that `keys create` accepts, compared with those that endpoints need; and those of
// contract 7 whose endpoints are to come, for which a key may be made already.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeNames } from '../../src/cli/keys.ts'
import { endpointsOf } from '../../src/http/endpoints/table.ts'
import { namedScopes } from '../../src/store/keys.ts'
import { resources } from '../../src/resources/index.ts'

test('the scopes of keys are exactly those that endpoints need, and those to come', () => {
  const needed = new Set(endpointsOf(resources).flatMap(({ scope }) => scope ?? []))
  assert.deepEqual(scopeNames, [...new Set([...needed, ...namedScopes])])
})
