// What is typed after `npm run bench --` and its like: options, help and faults from one table.

import { parseArgs } from 'node:util'
import { columns } from '../../src/cli/command.ts'
import { nearest } from '../../src/nearest.ts'

/** What a script says of itself and takes. */
interface Script {
  /** Its name as npm runs it. */
  readonly name: string
  readonly summary: string
  /** Options that take a whole number, with what they are unless given. */
  readonly numbers?: Readonly<Record<string, { readonly usual: number; readonly meaning: string }>>
  /** Options that take no value. */
  readonly switches?: Readonly<Record<string, string>>
  /** Words of which any number may be given; all of them where none is. */
  readonly words?: { readonly meaning: string; readonly known: readonly string[] }
}

/** What has been typed. */
interface Typed {
  number(name: string): number
  has(name: string): boolean
  readonly words: readonly string[]
}

/** Reads what was typed; for help, or a fault, says so and ends the process (0, 2). */
export function readOptions(script: Script, args = process.argv.slice(2)): Typed {
  const typed = parse(script, args)
  if (typeof typed !== 'string') return typed
  const isHelp = typed === 'help'
  if (isHelp) console.log(help(script))
  else console.error(`${script.name}: ${typed}\nSee: npm run ${script.name} -- --help`)
  return process.exit(isHelp ? 0 : 2)
}

/** What was typed; a text where that is no way to go on: `help`, or the fault. */
function parse({ numbers = {}, switches = {}, words }: Script, args: string[]): Typed | string {
  const { tokens } = parseArgs({
    args,
    options: {
      ...Object.fromEntries(Object.keys(numbers).map((name) => [name, { type: 'string' }])),
      help: { type: 'boolean', short: 'h' },
    },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values = new Map<string, number>()
  const given = new Set<string>()
  const found: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (words?.known.includes(token.value) !== true) return unknown(token.value, words?.known)
      found.push(token.value)
    }
    if (token.kind !== 'option') continue
    const { name, value } = token
    if (name === 'help') return 'help'
    if (name in numbers) {
      const number = value === undefined || !/^\d+$/.test(value) ? NaN : Number(value)
      if (!Number.isSafeInteger(number)) return `${token.rawName} takes a whole number`
      values.set(name, number)
    } else if (name in switches) {
      if (value !== undefined) return `${token.rawName} takes no value`
      given.add(name)
    } else return unknown(token.rawName, [...Object.keys(numbers), ...Object.keys(switches)])
  }
  return {
    number: (name) => values.get(name) ?? numbers[name]?.usual ?? NaN,
    has: (name) => given.has(name),
    words: found.length > 0 ? found : (words?.known ?? []),
  }
}

function unknown(word: string, known: readonly string[] = []): string {
  const dashes = /^-*/.exec(word)?.[0] ?? ''
  const near = nearest(word.slice(dashes.length), known)
  return `${word} is not known${near === undefined ? '' : `; did you mean ${dashes}${near}?`}`
}

function help({ name, summary, numbers = {}, switches = {}, words }: Script): string {
  const lines = [
    ...Object.entries(numbers).map(([option, { usual, meaning }]) => [
      `--${option} N`,
      `${meaning} (${usual})`,
    ]),
    ...Object.entries(switches).map(([option, meaning]) => [`--${option}`, meaning]),
  ]
  const usage = `npm run ${name} -- [OPTIONS]${words === undefined ? '' : ' [NAME…]'}`
  const names = words && `${words.meaning}:\n  ${words.known.join('\n  ')}`
  return [summary, `Usage: ${usage}`, names, lines.length > 0 && `Options:\n${columns(lines)}`]
    .filter(Boolean)
    .join('\n\n')
}
