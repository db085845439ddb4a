// The versions of the registry.

import { versionListParameters } from '../../../src/http/endpoints/versions.ts'
import { numberParameter } from '../components.ts'
import { describeTagged, type Operation } from '../operation.ts'
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
} from '../schemas.ts'

export function describeVersions(): Operation {
  const number = { ...countSchema, minimum: 1 }
  const entry = objectOf(
    'A version of the registry: an import, the revert of one, or a withholding',
    {
      version: member(number, 'Its number', 17),
      committed_at: member(
        momentSchema,
        'When it was committed; `known_at` finds it by this',
        '2024-02-01T03:00:12.345Z',
      ),
      resource: member(shortText, 'What was imported: a listing, or `companies`', 'companies'),
      source: member(shortText, 'Its source; `dossier/withheld` for a withholding', 'gov'),
      as_of: member(orNull(momentSchema), 'The day of the extract', '2024-01-31T00:00:00Z'),
      inserted: member(countSchema, 'Number of new records', 120),
      updated: member(countSchema, 'Number of changed records', 3),
      removed: member(countSchema, 'Number of removed records', 1),
      events: member(countSchema, 'Number of events recorded for the changes', 4),
    },
  )
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
    parameters: [
      numberParameter(
        'before',
        versionListParameters.before,
        'Only versions below this one; by default all',
      ),
      'limit',
    ],
    answer: { description: 'A page of versions', headers: ['Link'], schema: 'VersionsPage' },
    namesNothing: true,
    unchanged: 'Nothing was imported',
    schemas: { Version: entry, VersionsPage: page },
  })
}
