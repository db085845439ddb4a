// The scopes that `keys create` accepts, compared with those that endpoints need.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeNames } from '../../src/cli/keys.ts'
import { endpointsOf } from '../../src/http/endpoints/table.ts'
import { resources } from '../../src/resources/index.ts'

test('the scopes of keys are exactly those that endpoints need', () => {
  const needed = endpointsOf(resources).flatMap(({ scope }) => scope ?? [])
  assert.deepEqual(scopeNames, [...new Set(needed)])
})
