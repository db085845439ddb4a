import { id, text, timestamp } from './field.ts'
import { defineResource } from './resource.ts'

export const events = defineResource({
  name: 'events',
  title: 'Event',
  description: 'A change of one attribute of the company.',
  fields: {
    id: id('Record identifier', 31337),
    jurisdiction: text('Jurisdiction code', 'GB'),
    date: timestamp('When the change took place', '2023-01-17T00:00:00Z', {
      required: true,
      filter: 'range',
    }),
    attr: text('Name of the changed attribute', 'address', { required: true, filter: 'value' }),
    before: text('Value before the change', '1 Old Road, Ipswich', { personal: 'shown' }),
    after: text('Value after the change', '12 Quay Street, Felixstowe', { personal: 'shown' }),
    identifier: text('Identifier of the company that changed', '09876543'),
  },
  order: { by: 'date', direction: 'descending' },
  metaOf: 'attr',
  picture: { kind: 'timeline' },
  changeFields: {
    jurisdiction: 'jurisdiction',
    identifier: 'identifier',
    date: 'date',
    attr: 'attr',
    before: 'before',
    after: 'after',
  },
})
