// The endpoint by which a key learns about itself (contract 8.5).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { rateSecondsMax } from '../../config/rate.ts'
import type { Resource } from '../../resources/resource.ts'
import { allScopes, hasScope } from '../../store/keys.ts'
import {
  countSchema,
  member,
  momentSchema,
  objectOf,
  okSchema,
  orNull,
  schemaRef,
  shortText,
} from '../docs/schemas.ts'
import { describeTagged } from '../docs/tagged-answer.ts'
import { forbidden } from '../errors.ts'
import { fromStore } from '../store-errors.ts'
import { checkNames, readMembers } from '../requests/members.ts'
import { sendState } from '../answers/state-answer.ts'
import { type Endpoint, type Operation, type Service } from './endpoint.ts'

/** Any valid key may ask: the answer tells only of the key itself. */
export function key(resources: readonly Resource[]): Endpoint {
  const scopes = allScopes(resources.map(({ name }) => name))
  return {
    path: '/api/v1/key',
    scope: undefined,
    operation: describe(scopes),
    createHandler: (service) => (request) => answer(request, scopes, service),
  }
}

async function answer(
  request: HttpRequest,
  scopes: readonly string[],
  { store, readUses }: Service,
): Promise<HttpReply> {
  checkNames(await readMembers(request), [])
  const { key, rate } = request
  if (key === undefined) throw forbidden()
  const { id, name, hint, createdAt, expiresAt } = key
  const registry = await fromStore(() => store.readRegistry())
  const uses = await readUses?.(id)
  const described = {
    name,
    hint,
    scopes: scopes.filter((scope) => hasScope(key.scopes, scope)),
    created_at: moment(createdAt),
    expires_at: moment(expiresAt),
    rate:
      rate === undefined
        ? null
        : {
            quota: rate.quota,
            window_seconds: rate.windowSeconds,
            remaining: rate.remaining,
            reset_seconds: rate.resetSeconds,
          },
    uses: uses === undefined ? null : { today: uses.today, last_30_days: uses.last30Days },
  }
  const state = {
    version: registry.version,
    committed_at: moment(registry.committedAt),
    earliest_version: registry.earliestVersion,
  }
  const text = JSON.stringify({ ok: true, key: described, registry: state })
  return sendState(request, { text, registry })
}

/** To the millisecond, as `created_at` of records. */
function moment(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

/** @param scopes every scope that there is. */
function describe(scopes: readonly string[]): Operation {
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
    created_at: member(momentSchema, 'When it was made', '2026-11-21T15:40:02.117Z'),
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
    earliest_version: member(countSchema, 'The earliest version that can be asked for', 1),
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
    unchanged: 'Nothing has changed',
    schemas: {
      Key: itself,
      RegistryState: registry,
      KeyAnswer: objectOf('A key, and the registry', whole),
    },
  })
}
