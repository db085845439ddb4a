// A resource that the program does not have.

import { id, text } from '../../src/resources/field.ts'
import { defineResource } from '../../src/resources/resource.ts'

export const inspections = defineResource({
  name: 'inspections',
  title: 'Inspection',
  description: 'A visit of an inspector, summed up by its outcome.',
  fields: {
    id: id('Record identifier', 12),
    outcome: text('What came of it', 'passed', { required: true }),
  },
  order: { by: 'id', direction: 'descending' },
  metaOf: 'outcome',
})
