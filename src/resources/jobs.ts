import { id, integer, text, timestampMs } from './field.ts'
import { defineResource } from './resource.ts'

export const jobs = defineResource({
  name: 'jobs',
  title: 'Job',
  description: 'A job posting published by the company.',
  fields: {
    id: id('Record identifier', 5150),
    title: text('Posting title', 'Warehouse supervisor'),
    description: text('Posting description', 'Leads the night shift of a team of twelve.'),
    salary_from: integer('Lower salary bound', 32000),
    salary_to: integer('Upper salary bound', 38000),
    currency: text('Currency code', 'GBP'),
    location: text('Place of the job', 'Felixstowe'),
    created_at: timestampMs('When the posting appeared', '2024-02-05T08:30:00.000Z'),
    updated_at: timestampMs('When the posting last changed', '2024-02-19T08:30:00.000Z'),
  },
  order: { by: 'id', direction: 'ascending' },
})
