import { id, text, textList, timestamp, timestampMs } from './field.ts'
import { defineResource } from './resource.ts'

export const rights = defineResource({
  name: 'rights',
  title: 'Right',
  description:
    'An intellectual property right (trademark, patent and similar) registered to the company.',
  fields: {
    id: id('Record identifier', 4711),
    jurisdiction: text('Short jurisdiction code', 'GB'),
    name: text('Name of the right', 'NORTHWIND'),
    object_type: text('Kind of right (trademark, patent, etc.)', 'trademark'),
    status: text('Status of the right', 'registered'),
    registration_number: text('Registration number', 'UK00003123456'),
    registration_date: timestamp('Day of registration', '2019-08-02T00:00:00Z'),
    application_date: timestamp('Day of application', '2019-03-14T00:00:00Z'),
    holders: textList('Names of the holders', ['Northwind Trading Ltd']),
    created_at: timestampMs('When the register first held the record', '2019-08-05T09:12:44.018Z'),
    updated_at: timestampMs('When the register last changed it', '2023-01-17T16:03:05.500Z'),
  },
  order: { by: 'id', direction: 'ascending' },
})
