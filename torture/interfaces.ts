// What this version of the command line can do: campaigns use what is there.

import { commands } from '../src/cli/command-line.ts'

function hasCommand(name: string): boolean {
  return commands.some((command) => command.name === name)
}

/** `dossier verify` checks every store that a campaign leaves behind. */
export const hasVerify = hasCommand('verify')
/** `dossier backup` copies a store while it is loaded and served. */
export const hasBackup = hasCommand('backup')
/** `--as-of` dates an extract of companies; the events between two of them are recorded. */
export const hasAsOf = commands.some(
  ({ name, options }) => name === 'import' && options.some((option) => option.name === 'as-of'),
)
