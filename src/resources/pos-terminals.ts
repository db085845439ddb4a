import { id, text } from './field.ts'
import { defineResource } from './resource.ts'

export const posTerminals = defineResource({
  name: 'pos_terminals',
  title: 'POS terminal',
  description: 'A point-of-sale terminal registered to the company.',
  fields: {
    id: id('Record identifier', 8086),
    terminal_id: text('Identifier of the terminal', 'T-0042-7', { filter: 'value' }),
    location: text('Address or location of the terminal', '12 Quay Street, Felixstowe'),
    bank_name: text('Name of the bank', 'Harbour Bank', { filter: 'value', sortable: true }),
    status: text('Status of the terminal', 'active', { filter: 'value' }),
    jurisdiction: text('Jurisdiction code', 'GB', { filter: 'value' }),
  },
  order: { by: 'id', direction: 'ascending' },
})
