// The declaration of a command, from which its help and the parsing of its arguments derive.

import { type ResolvedSettings, resolveSettings, settingsOf } from '../config/resolve-settings.ts'
import {
  type SettingName,
  type Settings,
  type SettingTexts,
  UsageError,
  settings,
  variableOf,
} from '../config/settings.ts'
import { OperatorError } from '../config/operator-error.ts'
import { advise } from '../text/nearest.ts'
import type { ServerContext } from '../server/server.ts'
import { type KnownOption, parseArguments, type ParsedArguments } from './arguments.ts'
import type { Output } from './output.ts'

/** The parts of the process that a command may use; all its input and output goes through here. */
export interface CommandContext extends ServerContext {
  readonly stdout: Output
  readonly stderr: Output
  /** Gives the process the lowest priority. */
  readonly lowerPriority: () => void
}

/** The parsed arguments of a command, with its settings. */
export interface Input extends ParsedArguments {
  /** The value of each setting. @throws UsageError if one is invalid. */
  readonly settings: Settings
  /** The settings with their origins, including invalid ones. */
  readonly found: ResolvedSettings
}

/** A command: its help and its implementation. */
export interface Command {
  readonly summary: string
  /** The lines of usage, without `dossier`; each begins with the name of the command. */
  readonly synopsis: readonly string[]
  /** An explanation for newcomers, with examples; wrapped by hand. */
  readonly details: string
  /** Its own options, as they are written (`--map FILE.sql`, `--null TEXT…`, a flag). */
  readonly options: Readonly<Record<string, string>>
  readonly settings: readonly SettingName[]
  /** Defaults that differ from those of the settings. */
  readonly defaults?: Partial<SettingTexts>
  /** Whether it takes words besides options. */
  readonly takesWords?: false
  /** Runs even if a setting is invalid. */
  readonly takesBadSettings?: true
  readonly run: Run
}

/** Resolves to the exit code. */
type Run = (input: Input, context: CommandContext) => Promise<number>

export function nameOf({ synopsis: [line = ''] }: Pick<Command, 'synopsis'>): string {
  return line.split(' ', 1)[0] ?? ''
}

/** The error of a command that has changed something before: an interruption says so. */
export function keepingChanges(error: unknown, { signal }: CommandContext): unknown {
  if (!signal.aborted || error !== signal.reason) return error
  return new OperatorError('interrupted; the changes reported before are kept', { cause: error })
}

/**
 * Parses the arguments after a command's name.
 *
 * @throws UsageError that names the fault and, for an unknown option, the nearest known one.
 */
export function parseInput(
  command: Command,
  args: readonly string[],
  environment: CommandContext['environment'],
): Input {
  const shared = command.settings.map((key) => ({ name: settings[key].name, takesValue: true }))
  const parsed = parseArguments([...knownOptions(command), ...shared], args)
  if (command.takesWords === false) refuseWords(nameOf(command), parsed.words)
  refuseOfOthers(command, parsed)
  const found = resolveSettings(parsed.options, environment, command.defaults)
  return {
    ...parsed,
    found,
    get settings() {
      return settingsOf(found)
    },
  }
}

/**
 * Refuses an option that the usage gives for other actions only: `keys revoke --overlap 7d`.
 *
 * @throws UsageError that names it.
 */
function refuseOfOthers(
  { synopsis, options }: Command,
  { words: [action = ''], options: values, flags }: ParsedArguments,
): void {
  const ofAction = synopsis.filter((line) => actionsIn(line).includes(action))
  const isAction = ofAction.length > 0
  const lines = isAction ? ofAction : synopsis.filter((line) => actionsIn(line).length === 0)
  const taken = new Set(lines.flatMap((line) => line.split(/[^\w-]+/)))
  if (lines.length === 0 || taken.has('OPTIONS')) return
  for (const { name: option } of knownOptions({ options })) {
    if ((!(option in values) && !flags.has(option)) || taken.has(`--${option}`)) continue
    const name = nameOf({ synopsis })
    throw new UsageError(`${isAction ? `${name} ${action}` : name} takes no --${option}`)
  }
}

/** The actions that a line of usage describes: `keys list`, or `withhold {mask|erase}`. */
function actionsIn(line: string): readonly string[] {
  return /^\S+ \{?([a-z_|]+)\}?(?= |$)/.exec(line)?.[1]?.split('|') ?? []
}

/** The options of a command by their names. */
export function knownOptions({ options }: Pick<Command, 'options'>): KnownOption[] {
  return Object.keys(options).map((form) => {
    const [dashed = '', value] = form.split(' ')
    const isRepeatable = value?.endsWith('…') === true
    return { name: dashed.slice(2), takesValue: value !== undefined, isRepeatable }
  })
}

/** Prints a report: as JSON if that is asked for. */
export function print(
  { flags }: Pick<Input, 'flags'>,
  { stdout }: Pick<CommandContext, 'stdout'>,
  value: unknown,
  lines: readonly string[],
): void {
  if (flags.has('json')) stdout.writeJson(value)
  else stdout.writeLines(...lines)
}

/**
 * Makes a command run the action that its first word names, with the other words.
 *
 * @param usual runs if there is no word; without it, there must be an action.
 * @param otherwise the advice on any other word; by default, the nearest action.
 */
export function byAction(
  command: string,
  actions: Readonly<Record<string, Run>>,
  usual?: Run,
  otherwise?: string,
): Run {
  return (input, context) => {
    const [action = '', ...words] = input.words
    if (input.words.length === 0 && usual !== undefined) return usual(input, context)
    const run = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (run !== undefined) return run({ ...input, words }, context)
    const fault = input.words.length === 0 ? 'needs an action' : `has no action ${action}`
    const advice = otherwise ?? advise(input.words[0], Object.keys(actions))
    throw new UsageError(`${command} ${fault}; ${advice}`)
  }
}

/** @throws UsageError if a command or an action that takes options only has words. */
export function refuseWords(name: string, words: readonly string[]): void {
  if (words.length === 0) return
  throw new UsageError(`${name} takes options only, but got ${words.join(' ')}`)
}

/** The only word of a command. @throws UsageError with this message if there is not exactly one. */
export function onlyWord(words: readonly string[], otherwise: string): string {
  const [word] = words
  // An unset variable of the shell gives an empty one.
  if (word !== undefined && word !== '' && words.length === 1) return word
  throw new UsageError(otherwise)
}

/** The only argument, a path; no command that takes one reads or writes a pipe. */
export function onlyPath(words: readonly string[], otherwise: string): string {
  const path = onlyWord(words, otherwise)
  if (path !== '-') return path
  throw new UsageError(`${otherwise}, not standard input or output (-)`)
}

/** Formats the help of one command. */
export function commandHelp(command: Command): string {
  const settingLines = command.settings.map((key) => {
    const setting = settings[key]
    const usual = command.defaults?.[key] ?? setting.default
    return [
      `--${setting.name} ${setting.value}`,
      `${setting.meaning} (${variableOf(setting)}; default ${usual})`,
    ]
  })
  const lines = [...Object.entries(command.options), ...settingLines]
  const usage = command.synopsis.map((line) => `dossier ${line}`).join('\n       ')
  return `Usage: ${usage}\n${command.details}\n\nOptions:\n${columns(lines)}\n`
}

/** Formats two columns, the second one wrapped so that lines have at most 100 characters. */
export function columns(lines: readonly (readonly string[])[]): string {
  const width = Math.max(...lines.map(([left = '']) => left.length)) + 4
  return lines
    .map(([left = '', right = '']) => {
      const wrapped = wrap(right, 100 - width).join(`\n${' '.repeat(width)}`)
      return `  ${left.padEnd(width - 2)}${wrapped}`
    })
    .join('\n')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
