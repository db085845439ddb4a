// The scopes that `keys create` takes, beside those that endpoints ask for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopeNames } from '../../src/cli/keys.ts'
import { endpointsOf } from '../../src/http/endpoints/table.ts'
import { resources } from '../../src/resources/index.ts'

test('a key can have every scope that an endpoint needs, and no other', () => {
  const needed = new Set(endpointsOf(resources).flatMap(({ scope }) => scope ?? []))
  assert.deepEqual(scopeNames, [...needed])
})
