// The changes of the registry.

import { changesNumbers, changesTexts } from '../../../src/http/requests/changes-request.ts'
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
  query,
  registerNumberPattern,
  schemaName,
  schemaRef,
  type Schemas,
  shortText,
} from '../schemas.ts'

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

/** A schema for each resource, so that a generated client knows the record by `resource`. */
function changeSchemas(resources: readonly Resource[]): Schemas {
  const records = resources.map((one) => [one.name, schemaName(one), schemaName(one)] as const)
  const all = [['companies', 'Company', 'ChangedCompany'] as const, ...records]
  const changes = all.map(([name, prefix, record]) => [
    `${prefix}Change`,
    objectOf(`A record of ${name} that has changed`, {
      resource: { type: 'string', enum: [name], description: 'Its listing, or `companies`' },
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
        oneOf: [schemaRef(record), { type: 'null' }],
      },
    }),
  ])
  const schemas = Object.fromEntries(changes) as Schemas
  const oneOf = Object.keys(schemas).map(schemaRef)
  return { ...schemas, Change: { description: 'A record that has changed', oneOf } }
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
      'backup) is a 410: begin again with `after=0`. With `format=ndjson`, the answer has one change ' +
      'a line, and the cursors are in `Changes-Until` and `Changes-Next`.',
    parameters: parametersOf(resources),
    answer: {
      description: 'A page of changes',
      headers: ['Link', 'Changes-Until', 'Changes-Next'],
      schema: 'ChangesPage',
      example: { ok: true, changes: [change], after: '0', until: examplePoint, next: null },
    },
    unchanged: 'Nothing has changed',
    schemas: {
      ...changeSchemas(resources),
      ChangedCompany: companyRecord,
      ChangesPage: page,
    },
  })
}

function parametersOf(resources: readonly Resource[]): Operation['parameters'] {
  return [
    ...Object.entries(textsOf(resources)).map(([name, { description, ...text }]) => {
      const required = changesTexts[name as keyof typeof changesTexts] === 'required'
      return query(name, { description, required, ...text })
    }),
    numberParameter('limit', changesNumbers.limit, 'Changes per page'),
    numberParameter(
      'wait',
      changesNumbers.wait,
      'If there is nothing after the cursor: seconds to wait for a change',
    ),
    // NDJSON is not announced: each caller would have to rule text out of the answer's type.
    'format',
  ]
}

function textsOf(
  resources: readonly Resource[],
): Readonly<Record<keyof typeof changesTexts, JsonSchema>> {
  const point = { ...cursor, examples: ['0'] }
  const names = ['companies', ...resources.map(({ name }) => name)]
  const pattern = `^([1-9][0-9]{0,15}|${registerNumberPattern})$`
  return {
    after: {
      description:
        '`0` for the whole registry, `until` or `next` of an earlier answer, or the number of a version',
      schema: point,
      example: '0',
    },
    until: {
      description: 'Changes up to this version only: its number, or a cursor',
      schema: point,
    },
    resource: {
      description: 'Only changes of this listing, or of `companies`',
      schema: { type: 'string', enum: names },
    },
    company_id: {
      description: 'Only changes of this company: its id, or its register number',
      schema: { ...companyText, pattern, examples: ['1'] },
    },
  }
}
