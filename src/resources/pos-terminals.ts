import { id, text } from './field.ts'
import { defineResource } from './resource.ts'

export const posTerminals = defineResource({
  name: 'pos_terminals',
  title: 'POS terminal',
  description: 'A point-of-sale terminal registered to the company.',
  fields: {
    id: id('Record identifier', 8086),
    terminal_id: text('Terminal identifier', 'T-0042-7'),
    location: text('Address or place of the terminal', '12 Quay Street, Felixstowe'),
    bank_name: text('Name of the bank', 'Harbour Bank'),
    status: text('Terminal status', 'active'),
    jurisdiction: text('Short jurisdiction code', 'GB'),
  },
  order: { by: 'id', direction: 'ascending' },
})
