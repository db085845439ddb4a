import { id, text, timestamp, timestampMs } from './field.ts'
import { defineResource } from './resource.ts'

export const employees = defineResource({
  name: 'employees',
  title: 'Employee',
  description: 'A person associated with the company as an employee.',
  fields: {
    id: id('Record identifier', 90210),
    identifier: text('Identifier of the person (digits)', '770412345678', {
      filter: 'value',
      personal: 'null',
    }),
    name: text('Full name of the person', 'Jane Doe', { sortable: true, personal: 'shown' }),
    position: text('Job position', 'Director', { filter: 'value' }),
    employer_identifier: text('Identifier of the employing company', '09876543'),
    employer_name: text('Name of the employing company', 'Northwind Trading Ltd'),
    employer_jurisdiction: text('Jurisdiction code of the employing company', 'GB'),
    start_date: timestamp('First day in the position', '2018-04-01T00:00:00Z', { filter: 'range' }),
    end_date: timestamp('Last day in the position; null if there is none', '2024-12-31T00:00:00Z', {
      filter: 'range',
    }),
    created_at: timestampMs(
      'When the record was added to the register',
      '2018-04-03T10:00:00.000Z',
    ),
    updated_at: timestampMs(
      'When the record was last changed in the register',
      '2018-04-03T10:00:00.000Z',
      { filter: 'range' },
    ),
  },
  order: { by: 'id', direction: 'ascending' },
  period: { from: 'start_date', to: 'end_date' },
  picture: { kind: 'periods', label: 'name', detail: 'position' },
  history: { attr: 'officers', fields: ['name', 'position'], sameBy: 'name' },
})
