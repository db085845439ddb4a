// The recipe of a source on the command line: which options of an import hold for the next one.

import type { Recipe } from '../../store/importing.ts'
import type { Command, Input } from '../command.ts'

/** Options that say something of one extract, or of one run of the command. */
const ofOneRun = new Set(
  'source as-of rejects future accept allow-empty complete record-first show dry-run json'.split(
    ' ',
  ),
)

/** The options that a command was given, as its arguments; settings such as --db are left out. */
export function givenOptions(
  options: Command['options'],
  { flags, values }: Input,
): readonly (readonly [name: string, ...words: string[]])[] {
  return options.flatMap(({ name, value }): (readonly [string, ...string[]])[] => {
    if (value === undefined) return flags.has(name) ? [[name, `--${name}`]] : []
    return (values[name] ?? []).map((given) => [name, `--${name}=${given}`] as const)
  })
}

/** The recipe of an import that was given these options. */
export function recipeOf(
  options: Command['options'],
  input: Input,
  mapping: string | undefined,
): Recipe {
  const kept = givenOptions(options, input).filter(([name]) => !ofOneRun.has(name))
  return { options: kept.flatMap(([, ...words]) => words), mapping }
}

/** The arguments of a recipe, without those options that the command line gives anew. */
export function recipeWords({ options }: Recipe, given: ReadonlySet<string>): string[] {
  return options.filter((word) => !given.has(nameOf(word)))
}

const nameOf = (word: string) => /^--([\w-]+)/.exec(word)?.[1] ?? ''

/** A command as one may type it. */
export function commandText(words: readonly string[]): string {
  return ['dossier', ...words.flatMap(spaced).map(quoted)].join(' ')
}

/** `--map=x` as `--map x`, unless the value would be taken for an option. */
function spaced(word: string): string[] {
  const [, name, value] = /^(--[\w-]+)=([^]*)$/.exec(word) ?? []
  return name === undefined || value === undefined || value.startsWith('-') ? [word] : [name, value]
}

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
