// Arguments of `npm run bench` and similar scripts: options, help and errors from one table.

import { columns } from '../../src/cli/command.ts'
import { parseArguments } from '../../src/cli/arguments.ts'
import { UsageError } from '../../src/config/settings.ts'
import { nearest } from '../../src/text/nearest.ts'

/** The description and options of a script. */
interface Script {
  /** Its npm name. */
  readonly name: string
  readonly summary: string
  /** Options with a whole number, and their defaults. */
  readonly numbers?: Readonly<Record<string, { readonly usual: number; readonly meaning: string }>>
  /** Options without a value. */
  readonly flags?: Readonly<Record<string, string>>
  /** Words of which any number may be given; all by default. */
  readonly words?: { readonly meaning: string; readonly known: readonly string[] }
}

/** The validated arguments. */
interface Given {
  number(name: string): number
  has(name: string): boolean
  readonly words: readonly string[]
}

/** Parses the arguments; prints help (exit code 0) or an error (2) and ends the process. */
export function readOptions(script: Script): Given {
  const args = process.argv.slice(2)
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(help(script))
    return process.exit(0)
  }
  try {
    return parse(script, args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    console.error(`${script.name}: ${error.message}\nSee: npm run ${script.name} -- --help`)
    return process.exit(2)
  }
}

function parse({ numbers = {}, flags = {}, words }: Script, args: string[]): Given {
  const known = [
    ...Object.keys(numbers).map((name) => ({ name, takesValue: true })),
    ...Object.keys(flags).map((name) => ({ name, takesValue: false })),
  ]
  const typed = parseArguments(known, args)
  for (const [name, value = ''] of Object.entries(typed.options)) {
    const isWhole = /^\d+$/.test(value) && Number.isSafeInteger(Number(value))
    if (!isWhole) throw new UsageError(`--${name} takes a whole number`)
  }
  const stray = typed.words.find((word) => words?.known.includes(word) !== true)
  if (stray !== undefined) throw unknown(stray, words)
  return {
    number: (name) => Number(typed.options[name] ?? numbers[name]?.usual),
    has: (name) => typed.flags.has(name),
    words: typed.words.length > 0 ? typed.words : (words?.known ?? []),
  }
}

function unknown(word: string, words: Script['words']): UsageError {
  const near = nearest(word, words?.known ?? [])
  return new UsageError(`${word} is not known${near ? `; did you mean ${near}?` : ''}`)
}

function help({ name, summary, numbers = {}, flags = {}, words }: Script): string {
  const lines = [
    ...Object.entries(numbers).map(([option, { usual, meaning }]) => [
      `--${option} N`,
      `${meaning} (${usual})`,
    ]),
    ...Object.entries(flags).map(([option, meaning]) => [`--${option}`, meaning]),
  ]
  const usage = `npm run ${name} -- [OPTIONS]${words === undefined ? '' : ' [NAME…]'}`
  const names = words && `${words.meaning}:\n  ${words.known.join('\n  ')}`
  return [summary, `Usage: ${usage}`, names, lines.length > 0 && `Options:\n${columns(lines)}`]
    .filter(Boolean)
    .join('\n\n')
}
