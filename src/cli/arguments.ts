// Parses the arguments of a command: words, options with their values, and flags.

import { parseArgs } from 'node:util'
import { UsageError } from '../config/settings.ts'
import { nearest } from '../text/nearest.ts'

/** An option that a command accepts. */
export interface KnownOption {
  /** Without the dashes. */
  readonly name: string
  readonly takesValue: boolean
  readonly isRepeatable?: boolean
}

export type ParsedArguments = Readonly<ReturnType<typeof parseArguments>>

/**
 * Parses the arguments after the name of a command; options and flags get names without dashes.
 *
 * @throws UsageError that names the fault and, for an unknown option, the nearest known one.
 */
export function parseArguments(known: readonly KnownOption[], args: readonly string[]) {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      known.map(({ name, takesValue }) => [name, { type: takesValue ? 'string' : 'boolean' }]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const words: string[] = []
  /** The value of each option; the last one if it is repeatable. */
  const options: Record<string, string | undefined> = {}
  /** All values of each option. */
  const values: Record<string, string[] | undefined> = {}
  const flags = new Set<string>()
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const option = known.find(({ name }) => name === token.name)
    // Of `-snapshot`, the parser makes options of a letter each.
    const written = token.rawName.startsWith('--') ? token.rawName : args[token.index]
    if (option === undefined) throw unknownOption(written ?? token.rawName, known)
    if (option.takesValue) {
      if (option.name in options && option.isRepeatable !== true) {
        throw new UsageError(`--${option.name} is given more than once; it takes one value`)
      }
      options[option.name] = valueOf(token)
      ;(values[option.name] ??= []).push(valueOf(token))
    } else if (token.value === undefined) flags.add(option.name)
    else throw new UsageError(`--${option.name} takes no value`)
  }
  return { words, options, values, flags }
}

function valueOf(token: {
  rawName: string
  value: string | undefined
  inlineValue?: boolean | undefined
}) {
  const { value } = token
  if (value === undefined) throw new UsageError(`${token.rawName} needs a value`)
  if (token.inlineValue === false && value.startsWith('--')) {
    throw new UsageError(`${token.rawName} needs a value, but ${value} follows it`)
  }
  return value
}

function unknownOption(given: string, known: readonly KnownOption[]): UsageError {
  const near = nearest(
    given.replace(/^-+|=[^]*/g, ''),
    known.map(({ name }) => name),
  )
  return new UsageError(
    `${given} is not an option of this command${near ? `; did you mean --${near}?` : ''}`,
  )
}
