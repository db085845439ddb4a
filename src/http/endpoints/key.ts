// The endpoint that describes the key of a request (contract 8.5).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import { allScopes, hasScope } from '../../store/keys.ts'
import { forbidden } from '../errors.ts'
import { fromStore } from '../store-errors.ts'
import { checkNames, readMembers } from '../requests/members.ts'
import { sendState } from '../answers/state-answer.ts'
import { writeMoment } from '../../text/moment.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

/** For any valid key: the answer describes only the key itself. */
export const key: Endpoint = {
  path: '/api/v1/key',
  scope: undefined,
  answer,
}

async function answer(
  request: HttpRequest,
  { store, resources, readUses }: Service,
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
    scopes: allScopes(resources.map((one) => one.name)).filter((scope) =>
      hasScope(key.scopes, scope),
    ),
    created_at: writeMoment(createdAt),
    expires_at: writeMoment(expiresAt),
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
    committed_at: writeMoment(registry.committedAt),
    earliest_version: registry.earliestVersion,
  }
  const text = JSON.stringify({ ok: true, key: described, registry: state })
  return sendState(request, { text, registry })
}
