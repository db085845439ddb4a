// What a command of the command line is; `main.ts` lists them, help and parsing derive from them.

import {
  type ResolvedSettings,
  resolveSettings,
  type SettingName,
  type Settings,
  type SettingTexts,
  settings,
  settingsOf,
  variableOf,
} from '../config.ts'
import { parseArguments, type ParsedArguments } from './arguments.ts'
import type { Output } from './output.ts'

/** What a command may use of the process; all that it reads and writes comes through here. */
export interface CommandContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdout: Output
  readonly stderr: Output
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  readonly now: () => number
}

/** An option of one command, beside the settings that it takes. */
interface Option {
  readonly name: string
  /** The word for its value in the help; undefined for a flag. */
  readonly value?: string
  readonly meaning: string
}

/** The arguments of a command, checked, with its settings. */
export interface Input extends ParsedArguments {
  /** The value of each. @throws UsageError where one is bad; no command starts with one. */
  readonly settings: Settings
  /** The same with where each comes from, for a command that shows bad ones, too. */
  readonly found: ResolvedSettings
}

/** A command: what the help says of it, and what it does. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** The lines of usage, without `dossier`. */
  readonly synopsis: readonly string[]
  /** What a newcomer has to know, with examples; wrapped by hand. */
  readonly details: string
  readonly options: readonly Option[]
  readonly settings: readonly SettingName[]
  /** Its own defaults, where they are others than those of the settings' table. */
  readonly defaults?: Partial<SettingTexts>
  /** It runs though a setting is bad. */
  readonly takesBadSettings?: true
  /** Gives the exit code: 0, or 1 where the command could not do what was asked. */
  run(input: Input, context: CommandContext): Promise<number>
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
  const own = command.options.map(({ name, value }) => ({ name, takesValue: value !== undefined }))
  const shared = command.settings.map((key) => ({ name: settings[key].name, takesValue: true }))
  const parsed = parseArguments([...own, ...shared], args)
  const found = resolveSettings(parsed.options, environment, command.defaults)
  const values =
    command.takesBadSettings !== true || found.faults.length === 0 ? settingsOf(found) : undefined
  return {
    ...parsed,
    found,
    get settings() {
      return values ?? settingsOf(found)
    },
  }
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const optionLines = command.options.map(({ name, value, meaning }) => [
    value === undefined ? `--${name}` : `--${name} ${value}`,
    meaning,
  ])
  const settingLines = command.settings.map((key) => {
    const setting = settings[key]
    return [
      `--${setting.name} ${setting.value}`,
      `${setting.meaning} (${variableOf(setting)}; default ${defaultOf(command, key)})`,
    ]
  })
  const lines = [...optionLines, ...settingLines]
  return (
    [
      command.synopsis
        .map((line, index) => `${index === 0 ? 'Usage:' : '      '} dossier ${line}`)
        .join('\n'),
      command.details.trim(),
      ...(lines.length > 0 ? [`Options:\n${columns(lines)}`] : []),
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  )
}

function defaultOf({ defaults }: Command, key: SettingName): string {
  return defaults?.[key] ?? settings[key].default
}

/** Two columns, the second one wrapped at 100 characters. */
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
