// The endpoint that lists the versions of the registry, newest first (contract 9.4).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { ListedVersion, VersionRange } from '../../store/reading.ts'
import type { StoreReader } from '../../store/serving/store-reader.ts'
import { fromStore } from '../store-errors.ts'
import { linkTo } from '../answers/links.ts'
import { type Parameter, parameters, readIntegers } from '../requests/listing-request.ts'
import { checkNames, readMembers } from '../requests/members.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import type { Service } from '../service.ts'
import type { Endpoint } from './endpoint.ts'

const versionsPath = '/api/v1/versions'

/** The parameters, in the order of the canonical form. */
export const versionListParameters = {
  before: {
    default: Number.MAX_SAFE_INTEGER,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  limit: parameters.limit,
} as const satisfies Readonly<Record<string, Parameter>>

/** Any valid key may see them: they name no company. */
export const versions: Endpoint = {
  path: versionsPath,
  scope: undefined,
  answer,
}

async function answer(request: HttpRequest, service: Service): Promise<HttpReply> {
  const given = await readMembers(request)
  checkNames(given, Object.keys(versionListParameters))
  const range = readIntegers(versionListParameters, given)
  return sendCached(request, service, {
    form: `${versionsPath}?before=${range.before}&limit=${range.limit}`,
    make: () => list(service.store, range),
  })
}

async function list(store: StoreReader, range: VersionRange): Promise<StateAnswer> {
  const listed = await fromStore(() => store.readVersions(range))
  const { registry, versions } = listed
  const { version: total } = registry
  const newer = Math.max(0, total + 1 - range.before)
  const last = versions.at(-1)?.version ?? 1
  const links = [linkTo('first', `${versionsPath}?limit=${range.limit}`)]
  if (last > 1) {
    links.push(linkTo('next', `${versionsPath}?before=${last}&limit=${range.limit}`))
  }
  return {
    text:
      `{"ok":true,"versions":[${versions.map(versionText).join(',')}],"total":${total},` +
      `"pagination_total":${total},"pagination_offset":${newer},` +
      `"earliest_version":${registry.earliestVersion}}`,
    registry,
    link: links.join(', '),
  }
}

/** To the millisecond, so that `known_at` finds the version by it. */
function versionText({ version, committedAt, asOf, ...rest }: ListedVersion): string {
  const { resource, source, inserted, updated, removed, events } = rest
  const committed_at = new Date(committedAt).toISOString()
  return JSON.stringify({
    version,
    committed_at,
    resource,
    source,
    as_of: asOf,
    inserted,
    updated,
    removed,
    events,
  })
}
