import { id, text, textList, timestamp, timestampMs } from './field.ts'
import { defineResource } from './resource.ts'

export const rights = defineResource({
  name: 'rights',
  title: 'Right',
  description:
    'An intellectual property right, such as a trademark or a patent, registered to the company.',
  fields: {
    id: id('Record identifier', 4711),
    jurisdiction: text('Jurisdiction code', 'GB', { filter: 'value' }),
    name: text('Name of the right', 'NORTHWIND', { sortable: true }),
    object_type: text('Kind of right, such as trademark or patent', 'trademark', {
      filter: 'value',
    }),
    status: text('Status of the right', 'registered', { filter: 'value' }),
    registration_number: text('Registration number', 'UK00003123456', { filter: 'value' }),
    registration_date: timestamp('Date of registration', '2019-08-02T00:00:00Z', {
      filter: 'range',
    }),
    application_date: timestamp('Date of application', '2019-03-14T00:00:00Z', { filter: 'range' }),
    holders: textList('Names of the holders', ['Northwind Trading Ltd'], {
      personal: 'shown',
    }),
    created_at: timestampMs(
      'When the record was added to the register',
      '2019-08-05T09:12:44.018Z',
    ),
    updated_at: timestampMs(
      'When the record was last changed in the register',
      '2023-01-17T16:03:05.500Z',
      { filter: 'range' },
    ),
  },
  order: { by: 'id', direction: 'ascending' },
  picture: { kind: 'years', moment: 'application_date', by: 'status' },
})
