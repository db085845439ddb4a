import type { Command } from './command.ts'
export const demo: Command = {
  name: 'demo',
  summary: 'x',
  usage: ['demo'],
  details: '',
  options: [],
  settings: [],
  run: () => Promise.resolve(0),
}
