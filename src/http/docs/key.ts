// The OpenAPI description of what a key learns about itself.

import { rateSecondsMax } from '../../config/rate.ts'
import type { JsonSchema } from '../../resources/field.ts'
import type { Operation } from '../endpoints/endpoint.ts'
import {
  countSchema,
  momentSchema,
  objectOf,
  okSchema,
  schemaRef,
  shortText,
} from './components.ts'
import { describeTagged } from './tagged-answer.ts'

const nullable = (schema: JsonSchema, description: string): JsonSchema => ({
  ...schema,
  type: [schema['type'], 'null'],
  description,
})

const secondsSchema = {
  ...{ type: 'integer', format: 'int32', minimum: 0, maximum: rateSecondsMax },
}

const rate = objectOf('Rate limit', {
  quota: { ...countSchema, description: 'Requests that a window allows' },
  window_seconds: { ...secondsSchema, description: 'Length of a window' },
  remaining: { ...countSchema, description: 'Requests left in the window, after this one' },
  reset_seconds: { ...secondsSchema, description: 'Seconds until the window ends' },
})

const uses = objectOf('Requests that the key was let in with', {
  today: { ...countSchema, description: 'Since midnight UTC' },
  last_30_days: { ...countSchema, description: 'In this hour and the 719 before it' },
})

function keySchema(scopes: readonly string[]): JsonSchema {
  return objectOf('A key', {
    name: { ...shortText, description: 'Its name' },
    hint: { ...shortText, description: 'Its first and last characters' },
    scopes: {
      type: 'array',
      maxItems: scopes.length,
      items: { type: 'string', enum: [...scopes] },
      description: 'What it may read',
    },
    created_at: { ...momentSchema, description: 'When it was made' },
    expires_at: nullable(momentSchema, 'When it expires; null for never'),
    rate: nullable(rate, 'Its rate limit; null without one'),
    uses: nullable(uses, 'Its use, up to a minute late; null if uses are not counted'),
  })
}

const registry = objectOf('The registry', {
  version: { ...countSchema, description: 'Number of the last import; 0 before the first one' },
  committed_at: nullable(momentSchema, 'When that was committed; null before the first one'),
  earliest_version: { ...countSchema, description: 'The earliest version that can be asked for' },
})

const exampleOf = (scopes: readonly string[]) => ({
  ok: true,
  key: {
    ...{ name: 'first-client', hint: 'dossier_Sz1a…9fL4', scopes: scopes.slice(0, 2) },
    ...{ created_at: '2026-11-21T15:40:02.117Z', expires_at: null },
    rate: { quota: 600, window_seconds: 300, remaining: 598, reset_seconds: 240 },
    uses: { today: 1_204, last_30_days: 35_112 },
  },
  registry: { version: 12, committed_at: '2026-11-21T04:12:55.020Z', earliest_version: 1 },
})

/** @param scopes every scope that there is. */
export function describeKey(scopes: readonly string[]): Operation {
  return describeTagged({
    id: 'get_key',
    tag: 'key',
    summary: 'The key of this request',
    description:
      'What the key may read, when it expires, what is left of its rate limit, and how often it ' +
      'was used; and the version of the registry. Needs a valid key, but no scope.',
    parameters: [],
    answer: {
      description: 'The key, and the registry',
      schema: 'KeyAnswer',
      example: { name: 'key', summary: 'A key with a rate limit', value: exampleOf(scopes) },
    },
    unchanged: 'Nothing has changed',
    schemas: {
      Key: keySchema(scopes),
      RegistryState: registry,
      KeyAnswer: objectOf('A key, and the registry', {
        ok: okSchema,
        key: schemaRef('Key'),
        registry: schemaRef('RegistryState'),
      }),
    },
  })
}
