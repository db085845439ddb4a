// What a key learns about itself.

import { rateSecondsMax } from '../../../src/config/rate.ts'
import type { Resource } from '../../../src/resources/resource.ts'
import { allScopes } from '../../../src/store/keys.ts'
import { describeTagged, type Operation } from '../operation.ts'
import {
  countSchema,
  member,
  momentSchema,
  objectOf,
  okSchema,
  orNull,
  schemaRef,
  shortText,
} from '../schemas.ts'

export function describeKey(resources: readonly Resource[]): Operation {
  const scopes = allScopes(resources.map(({ name }) => name))
  const seconds = { type: 'integer', format: 'int32', minimum: 0, maximum: rateSecondsMax }
  const rate = objectOf('Rate limit', {
    quota: member(countSchema, 'Requests that a window allows', 600),
    window_seconds: member(seconds, 'Length of a window', 300),
    remaining: member(countSchema, 'Requests left in the window, after this one', 598),
    reset_seconds: member(seconds, 'Seconds until the window ends', 240),
  })
  const uses = objectOf('Requests that the key was let in with', {
    today: member(countSchema, 'Since midnight UTC', 1_204),
    last_30_days: member(countSchema, 'In this hour and the 719 before it', 35_112),
  })
  const scopesSchema = {
    ...{ type: 'array', maxItems: scopes.length, items: { type: 'string', enum: [...scopes] } },
  }
  const itself = objectOf('A key', {
    name: member(shortText, 'Its name', 'first-client'),
    hint: member(shortText, 'Its first and last characters', 'dossier_Sz1a…9fL4'),
    scopes: member(scopesSchema, 'What it may read', scopes.slice(0, 2)),
    created_at: member(momentSchema, 'When it was created', '2026-11-21T15:40:02.117Z'),
    expires_at: member(orNull(momentSchema), 'When it expires; null for never', null),
    rate: member(orNull(rate), 'Its rate limit; null without one'),
    uses: member(orNull(uses), 'Its use, up to a minute late; null if uses are not counted'),
  })
  const registry = objectOf('The registry', {
    version: member(countSchema, 'Number of the last import; 0 before the first one', 12),
    committed_at: member(
      orNull(momentSchema),
      'When that was committed; null before the first one',
      '2026-11-21T04:12:55.020Z',
    ),
    earliest_version: member(countSchema, 'The earliest version that can be requested', 1),
  })
  const whole = { ok: okSchema, key: schemaRef('Key'), registry: schemaRef('RegistryState') }
  return describeTagged({
    id: 'get_key',
    tag: 'key',
    summary: 'The key of this request',
    description:
      'What the key may read, when it expires, what is left of its rate limit, and how often it ' +
      'was used; and the version of the registry. Needs a valid key, but no scope.',
    parameters: [],
    answer: { description: 'The key, and the registry', schema: 'KeyAnswer' },
    namesNothing: true,
    unchanged: 'Nothing has changed',
    schemas: {
      Key: itself,
      RegistryState: registry,
      KeyAnswer: objectOf('A key, and the registry', whole),
    },
  })
}
