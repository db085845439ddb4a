// The recipe of a source on the command line: the options of an import that apply to the next one.

import type { Recipe } from '../../store/importing.ts'
import { shellWord } from '../../text/shell-word.ts'
import { type Command, type Input, knownOptions } from '../command.ts'

/** Options that apply to one extract, or to one run of the command. */
const ofOneRun = new Set(
  'source as-of rejects future accept allow-empty complete record-first show dry-run json'.split(
    ' ',
  ),
)

/** The options that a command was given, as its arguments; settings such as --db are left out. */
export function givenOptions(
  command: Command,
  { flags, values }: Input,
): readonly (readonly [name: string, word: string])[] {
  return knownOptions(command).flatMap(({ name, takesValue }) => {
    if (takesValue)
      return (values[name] ?? []).map((given) => [name, `--${name}=${given}`] as const)
    return flags.has(name) ? [[name, `--${name}`] as const] : []
  })
}

/** The recipe of an import that was run with these options. */
export function recipeOf(command: Command, input: Input, mapping: string | undefined): Recipe {
  const kept = givenOptions(command, input).filter(([name]) => !ofOneRun.has(name))
  return { options: kept.map(([, word]) => word), mapping }
}

/** The arguments of a recipe, without the options that the command line overrides or reverses. */
export function recipeWords({ options }: Recipe, given: ReadonlySet<string>): string[] {
  const isGiven = (name: string) => given.has(name) || given.has(oppositeOf(name))
  return options.filter((word) => !isGiven(nameOf(word)))
}

/** `no-history` for `history`, and the other way round. */
const oppositeOf = (name: string) => (name.startsWith('no-') ? name.slice(3) : `no-${name}`)

const nameOf = (word: string) => /^--([\w-]+)/.exec(word)?.[1] ?? ''

/** A command as it is typed. */
export function commandText(words: readonly string[]): string {
  return ['dossier', ...words.flatMap(spaced).map(shellWord)].join(' ')
}

/** `--map=x` as `--map x`, unless the value would be taken for an option. */
function spaced(word: string): string[] {
  const [, name, value] = /^(--[\w-]+)=([^]*)$/.exec(word) ?? []
  return name === undefined || value === undefined || value.startsWith('-') ? [word] : [name, value]
}
