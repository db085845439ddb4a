// The changes of the registry.

import { changesNumbers, changesTexts } from '../../../src/http/requests/changes-request.ts'
import { mediaTypes } from '../../../src/http/requests/formats.ts'
import { parameters } from '../../../src/http/requests/listing-request.ts'
import type { Resource } from '../../../src/resources/resource.ts'
import { numberParameter } from '../components.ts'
import { describeTagged, type Operation } from '../operation.ts'
import { exampleRecord } from '../records.ts'
import {
  companySchema,
  companySchemas,
  companyText,
  countSchema,
  type JsonSchema,
  objectOf,
  okSchema,
  registerNumberPattern,
  schemaName,
  schemaRef,
  shortText,
} from '../schemas.ts'

/** What each parameter means. */
const meanings: Readonly<Record<keyof typeof changesTexts | keyof typeof changesNumbers, string>> =
  {
    after:
      '`0` for the whole registry, `until` or `next` of an earlier answer, or the number of a version',
    until: 'Changes up to this version only: its number, or a cursor',
    resource: 'Only changes of this listing, or of `companies`',
    company_id: 'Only changes of this company: its id, or its register number',
    limit: 'Changes per page',
    wait: 'If there is nothing after the cursor: seconds to wait for a change',
  }

const textNames = Object.keys(changesTexts) as (keyof typeof changesTexts)[]

const cursor = { ...shortText, pattern: '^[0-9a-z._~-]+$' }
const examplePoint = '17.5d1c3f9a1c0b7d2e.lkxj9o4x'

const page = objectOf('A page of changes', {
  ok: okSchema,
  changes: {
    type: 'array',
    maxItems: parameters.limit.maximum,
    items: schemaRef('Change'),
    description: 'Each record at most once, in its state at `until`',
  },
  after: { ...cursor, description: 'The state before these changes' },
  until: { ...cursor, description: 'The state after them: the next `after`' },
  next: {
    ...{ ...cursor, type: ['string', 'null'] },
    description: 'The `after` of the next page of the same request; null at the end',
  },
})

const companyRecord = objectOf('A company, without its listings', companySchemas)

function changeSchema(resources: readonly Resource[]): JsonSchema {
  const names = ['companies', ...resources.map(({ name }) => name)]
  return objectOf('A record that has changed', {
    resource: { type: 'string', enum: names, description: 'Its listing, or `companies`' },
    company_id: { ...companySchema, description: 'Id of its company' },
    id: { ...companySchema, description: 'Its id' },
    version: { ...countSchema, minimum: 1, description: 'The version in which it last changed' },
    change: {
      type: 'string',
      enum: ['put', 'remove', 'erase'],
      description: '`put`: it is now as in `record`; `remove`, `erase`: it has been removed',
    },
    record: {
      description: 'As in its listing; for `companies`, the company without its listings',
      oneOf: [...['ChangedCompany', ...resources.map(schemaName)].map(schemaRef), { type: 'null' }],
    },
  })
}

export function describeChanges(resources: readonly Resource[]): Operation {
  const [resource] = resources
  const record = resource === undefined ? null : exampleRecord(resource)
  const change = {
    ...{ resource: resource?.name ?? 'companies', company_id: 1, id: record?.['id'], version: 17 },
    ...{ change: 'put', record },
  }
  return describeTagged({
    id: 'list_changes',
    tag: 'registry',
    summary: 'What has changed since a state of the registry',
    description:
      'The net changes from one state to another, of what the key may read. The first page fixes ' +
      '`until`; apply the pages up to the one whose `next` is null in one transaction, and ' +
      'continue with `until` as `after`. A cursor does not expire. One of another history (a restored ' +
      'backup) is a 410: begin again with `after=0`.',
    parameters: parametersOf(resources),
    answer: {
      description: 'A page of changes',
      headers: ['Link', 'Changes-Until', 'Changes-Next'],
      schema: 'ChangesPage',
      otherTypes: {
        [mediaTypes.ndjson]: {
          schema: { type: 'string', maxLength: Number.MAX_SAFE_INTEGER },
          example: `${JSON.stringify(change)}\n`,
        },
      },
      example: { ok: true, changes: [change], after: '0', until: examplePoint, next: null },
    },
    unchanged: 'Nothing has changed',
    schemas: {
      Change: changeSchema(resources),
      ChangedCompany: companyRecord,
      ChangesPage: page,
    },
  })
}

function parametersOf(resources: readonly Resource[]): Operation['parameters'] {
  return [
    ...textNames.map((name) => {
      const required = changesTexts[name] === 'required'
      return {
        ...{ name, in: 'query', description: meanings[name], required },
        schema: textSchema(name, resources),
        ...(required ? { example: '0' } : {}),
      }
    }),
    numberParameter('limit', changesNumbers.limit, meanings.limit),
    numberParameter('wait', changesNumbers.wait, meanings.wait),
    {
      ...{ name: 'format', in: 'query', description: 'JSON, or NDJSON with one change a line' },
      schema: { type: 'string', enum: ['json', 'ndjson'], default: 'json' },
    },
  ]
}

function textSchema(name: string, resources: readonly Resource[]): JsonSchema {
  if (name === 'resource') {
    return { type: 'string', enum: ['companies', ...resources.map((one) => one.name)] }
  }
  return name === 'company_id'
    ? { ...companyText, pattern: `^([1-9][0-9]{0,15}|${registerNumberPattern})$`, examples: ['1'] }
    : { ...cursor, examples: ['0'] }
}
