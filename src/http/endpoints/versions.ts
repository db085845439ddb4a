// The endpoint that lists the versions of the registry, newest first (contract 9.4).

import type { HttpReply, HttpRequest } from '../wire/exchange.ts'
import type { ListedVersion, StoreReader, VersionRange } from '../../store/reading.ts'
import { numberParameter } from '../docs/components.ts'
import {
  counterSchemas,
  countSchema,
  listOf,
  member,
  momentSchema,
  objectOf,
  okSchema,
  orNull,
  shortText,
} from '../docs/schemas.ts'
import { describeTagged } from '../docs/tagged-answer.ts'
import { fromStore } from '../store-errors.ts'
import { linkTo } from '../answers/links.ts'
import { type Parameter, parameters, readIntegers } from '../requests/listing-request.ts'
import { checkNames, readMembers } from '../requests/members.ts'
import { sendCached, type StateAnswer } from '../answers/state-answer.ts'
import { type Endpoint, type Operation, type Service } from './endpoint.ts'

const versionsPath = '/api/v1/versions'

/** The parameters, in the order of the canonical form. */
const versionListParameters = {
  before: {
    description: 'Only versions below this one; by default all',
    default: Number.MAX_SAFE_INTEGER,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
  },
  limit: { ...parameters.limit, description: 'Versions per page' },
} as const satisfies Readonly<Record<string, Parameter>>

/** Any valid key may see them: they tell of no company. */
export const versions: Endpoint = {
  path: versionsPath,
  scope: undefined,
  operation: describe(),
  createHandler: (service) => (request) => answer(request, service),
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
  const { registry, total, newer, versions } = listed
  const last = versions.at(-1)?.version ?? 1
  const links = [linkTo('first', `${versionsPath}?limit=${range.limit}`)]
  if (newer + versions.length < total) {
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
    ...{ version, committed_at, resource, source, as_of: asOf },
    ...{ inserted, updated, removed, events },
  })
}

function describe(): Operation {
  const number = { ...countSchema, minimum: 1 }
  const entry = objectOf('A version of the registry: an import, or the revert of one', {
    version: member(number, 'Its number', 17),
    committed_at: member(
      momentSchema,
      'When it was committed; `known_at` finds it by this',
      '2024-02-01T03:00:12.345Z',
    ),
    resource: member(shortText, 'What was imported: a listing, or `companies`', 'companies'),
    source: member(shortText, 'The source that it came from', 'gov'),
    as_of: member(orNull(momentSchema), 'The day of the extract', '2024-01-31T00:00:00Z'),
    inserted: member(countSchema, 'Number of new records', 120),
    updated: member(countSchema, 'Number of changed records', 3),
    removed: member(countSchema, 'Number of removed records', 1),
    events: member(countSchema, 'Number of events recorded for the changes', 4),
  })
  const page = objectOf('A page of versions', {
    ok: okSchema,
    versions: listOf('Version'),
    ...counterSchemas('versions'),
    earliest_version: member(number, 'The earliest version whose listings can still be read', 1),
  })
  return describeTagged({
    id: 'list_versions',
    tag: 'registry',
    summary: 'Versions of the registry',
    description:
      'Every import is a version; newest first. Any valid key may list them. The parameter ' +
      '`version` of a listing names one.',
    parameters: Object.entries(versionListParameters).map(([name, declared]) =>
      name in parameters ? name : numberParameter(name, declared),
    ),
    answer: { description: 'A page of versions', headers: ['Link'], schema: 'VersionsPage' },
    unchanged: 'Nothing was imported',
    schemas: { Version: entry, VersionsPage: page },
  })
}
