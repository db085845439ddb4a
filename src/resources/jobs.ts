import { id, integer, text, timestampMs } from './field.ts'
import { defineResource } from './resource.ts'

export const jobs = defineResource({
  name: 'jobs',
  title: 'Job',
  description: 'A job posting published by the company.',
  fields: {
    id: id('Record identifier', 5150),
    title: text('Title of the posting', 'Warehouse supervisor', { sortable: true }),
    description: text('Text of the posting', 'Leads the night shift of a team of twelve.'),
    salary_from: integer('Lower end of the salary range', 32000, { filter: 'range' }),
    salary_to: integer('Upper end of the salary range', 38000, { filter: 'range' }),
    currency: text('Currency of the salary, as a code', 'GBP', { filter: 'value' }),
    location: text('Place of work', 'Felixstowe', { filter: 'value' }),
    created_at: timestampMs('When the job was posted', '2024-02-05T08:30:00.000Z', {
      filter: 'range',
    }),
    updated_at: timestampMs('When the posting last changed', '2024-02-19T08:30:00.000Z', {
      filter: 'range',
    }),
  },
  order: { by: 'id', direction: 'ascending' },
})
