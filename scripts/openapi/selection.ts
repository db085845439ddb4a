// The OpenAPI description of filters, order and version, derived from a resource's declaration.

import { bounds } from '../../src/http/requests/filter-values.ts'
import { valuesMax } from '../../src/http/requests/selection-parameters.ts'
import { textBytesMax } from '../../src/resources/field.ts'
import { filterFields, sortFields } from '../../src/resources/filters.ts'
import type { Resource } from '../../src/resources/resource.ts'
import { companySchema, type JsonSchema, query } from './schemas.ts'

const day = '[0-9]{4}-[0-9]{2}-[0-9]{2}'
const time = 'T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{3})?Z'
const momentLength = 24
const dayText = {
  ...{ type: 'string', pattern: `^${day}$`, maxLength: 10 },
  examples: ['2100-01-31'],
}

/** Parameters of every listing that name a version. */
export const versionComponents: Readonly<Record<string, JsonSchema>> = {
  version: query('version', {
    description: 'The listing as it was served at this version of the registry',
    schema: { ...companySchema, examples: [1] },
  }),
  as_of: query('as_of', {
    description: 'A day, such as `2024-01-31`: the last version before an import of a later day',
    schema: dayText,
  }),
  known_at: query('known_at', {
    description: 'A moment, such as `2024-01-31T12:00:00Z`: the last version committed by then',
    schema: {
      // Not date-time: generated clients would send a form that is not taken, such as +00:00.
      ...{ type: 'string', pattern: `^${day}${time}$`, maxLength: momentLength },
      examples: ['2100-01-31T12:00:00Z'],
    },
  }),
}

/** The parameters by which a resource's listings are filtered and ordered. */
export function selectionParameters(resource: Resource): readonly JsonSchema[] {
  const filters = filterFields(resource).flatMap((field) => filterParameters(resource, field))
  const { period } = resource
  return [
    ...filters,
    ...(period === undefined
      ? []
      : [
          query('current_on', {
            description:
              `Records valid on a day: \`${period.from}\` is not after it, or unknown, and ` +
              `\`${period.to}\` is not before it`,
            schema: dayText,
          }),
        ]),
    query('sort', {
      description: 'Order by this field, then by `id`; descending after a minus; null is last',
      schema: {
        type: 'string',
        enum: sortFields(resource).flatMap((field) => [field, `-${field}`]),
        examples: sortFields(resource).slice(0, 1),
      },
    }),
  ]
}

function filterParameters({ fields }: Resource, field: string): JsonSchema[] {
  const { kind, filter, required, description = '', example } = fields[field] ?? {}
  // Without what it says of null.
  const [what = ''] = description.split(';')
  const { form, maxLength } = wordForm(kind)
  const word = { type: 'string', maxLength, examples: [String(example)] }
  const items = form === undefined ? word : { ...word, pattern: `^(${form})?$` }
  const hasDays = form?.startsWith(day)
  const values = query(field, {
    description:
      `${what}: any of these values${hasDays ? ', or any moment of these days' : ''}` +
      (required ? '' : '; empty for null'),
    schema: { type: 'array', items, maxItems: valuesMax, examples: [[String(example)]] },
    style: 'form',
    explode: true,
  })
  if (filter !== 'range') return [values]
  const bounded = bounds.map((bound) => {
    const end = bound === 'gte' || bound === 'lt' ? 'first' : 'last'
    return query(`${field}[${bound}]`, {
      description:
        `${what}: ${boundWords[bound]} this value` +
        (hasDays ? `; a day means its ${end} moment` : ''),
      schema: { ...word, pattern: `^${form}$` },
    })
  })
  return [values, ...bounded]
}

const boundWords = { gte: 'at least', gt: 'greater than', lt: 'less than', lte: 'at most' }

/** The pattern of a value, in which any text is one, and its maximum length. */
function wordForm(kind: string | undefined): { form?: string; maxLength: number } {
  if (kind === 'text') return { maxLength: textBytesMax }
  if (kind === 'integer') return { form: '-?[0-9]{1,16}', maxLength: 17 }
  return { form: `${day}(${time})?`, maxLength: momentLength }
}
