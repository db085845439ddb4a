// Turns arguments into a call of a command, and errors into messages and an exit code.

import { inspect } from 'node:util'
import { UsageError } from '../config/settings.ts'
import { isMisspelling } from '../text/nearest.ts'
import { OperatorError, systemCode } from '../config/operator-error.ts'
import { withoutPasswords, withoutPasswordsInText } from '../text/redact.ts'
import { explainStoreError } from '../store/open-store.ts'
import {
  type Command,
  type CommandContext,
  columns,
  commandHelp,
  nameOf,
  parseInput,
} from './command.ts'
import { programVersion } from '../server/program-version.ts'

// In the order of the help. Only the command that runs is loaded: all of them would double the time
// to start a short one.
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  import: async () => (await import('./import/import.ts')).importCommand,
  update: async () => (await import('./import/update.ts')).update,
  keys: async () => (await import('./keys.ts')).keys,
  serve: async () => (await import('./serve.ts')).serve,
  sources: async () => (await import('./import/sources.ts')).sources,
  imports: async () => (await import('./import/imports.ts')).imports,
  find: async () => (await import('./reading/find.ts')).find,
  company: async () => (await import('./reading/company.ts')).company,
  listing: async () => (await import('./reading/listing.ts')).listing,
  changes: async () => (await import('./reading/changes.ts')).changes,
  export: async () => (await import('./store/export.ts')).exportCommand,
  verify: async () => (await import('./store/verify.ts')).verifyCommand,
  backup: async () => (await import('./store/backup.ts')).backupCommand,
  restore: async () => (await import('./store/restore.ts')).restoreCommand,
  prune: async () => (await import('./store/prune.ts')).prune,
  compact: async () => (await import('./store/compact.ts')).compactCommand,
  revert: async () => (await import('./store/revert.ts')).revert,
  withhold: async () => (await import('./store/withhold.ts')).withhold,
  migrate: async () => (await import('./store/migrate.ts')).migrate,
  demo: async () => (await import('./demo.ts')).demo,
  'check-config': async () => (await import('./check-config.ts')).checkConfig,
}

/** The names of the commands, in the order of the help. */
export const commandNames: readonly string[] = Object.keys(loaders)

/** Every command, in that order. */
export function loadCommands(): Promise<Command[]> {
  return Promise.all(Object.values(loaders).map((load) => load()))
}

/**
 * Runs the command that the arguments name.
 *
 * @returns the exit code: 0 success, 1 failure, 2 wrong usage, 130 and 143 interrupted.
 */
export async function runCommandLine(
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const code = await dispatch(args, context).catch((bug: unknown) => {
    // The runtime would print it without escaping it for the terminal.
    context.stderr.write(`${inspect(bug)}\n`)
    return 1
  })
  const fault = await context.stdout.fault()
  // A reader that has closed the pipe (`dossier keys list | head`) has read all that it wanted.
  if (fault === undefined || fault.code === 'EPIPE') return code
  const outcome = code === 0 ? '; any changes that the command made are kept' : ''
  context.stderr.writeLines(`dossier: cannot write to standard output (${fault.message})${outcome}`)
  return code === 0 ? 1 : code
}

async function dispatch(args: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args
  if (name === undefined || isHelp(name)) {
    context.stdout.write(help(await loadCommands()))
    return 0
  }
  if (name === '--version' || name === '-v') {
    context.stdout.write(`${programVersion()}\n`)
    return 0
  }
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined
  if (load === undefined) return reportUsageErrors(context, [unknownCommand(name)])
  const command = await load()
  if (rest.some(isHelp)) {
    context.stdout.write(commandHelp(command))
    return 0
  }
  return runCommand(command, rest, context)
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h'
}

async function runCommand(
  command: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  let db = ''
  const hide = (message: string) => withoutArgumentPasswords(message, args)
  try {
    const input = parseInput(command, args, context.environment)
    if (command.takesBadSettings !== true) db = input.settings.db
    return await command.run(input, context)
  } catch (thrown) {
    const error = firstOf(thrown)
    const { signal } = context
    const interrupted = signal.reason === 'SIGINT' ? 130 : 143
    if (signal.aborted && error === signal.reason) {
      context.stderr.writeLines('dossier: interrupted; nothing was changed')
      return interrupted
    }
    const known = explainStoreError(db, error)
    if (known instanceof UsageError) {
      const faults = known.faults.map(hide)
      return reportUsageErrors(context, faults, `See: dossier ${nameOf(command)} --help`)
    }
    const message = known instanceof OperatorError ? known.message : systemFault(known)
    if (message === undefined) throw error
    context.stderr.writeLines(`dossier: ${hide(message)}`)
    const isPart = signal.aborted && error instanceof Error && error.cause === signal.reason
    return isPart ? interrupted : 1
  }
}

/** The error that ended the work, rather than one of cleaning up after it. */
function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error
}

/** Removes passwords from a message that may repeat arguments: any of them may be a URL. */
function withoutArgumentPasswords(message: string, args: readonly string[]): string {
  const values = args.flatMap((arg) => [arg, arg.replace(/^--?[\w-]+=/, '')])
  const hide = (text: string, value: string) => {
    const shown = withoutPasswords(value)
    // Nothing follows the beginning of a URL, which is also in the examples of messages.
    return shown.startsWith(value) ? text : text.replaceAll(value, () => shown)
  }
  return withoutPasswordsInText(values.reduce(hide, message))
}

/** Describes an error of a system call, such as a read from a failing disk; not a bug of ours. */
function systemFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const path = 'path' in error ? `${String(error.path)}: ` : ''
  const code = systemCode(error)
  const advice = adviceOfCode[code] ?? 'see the system log'
  return `${path}${String(error.syscall)} failed with ${code}; ${advice}`
}

const [noRight, noSpace] = ['this user lacks the right to it', 'free some space']
const noPath = 'correct the path'
const adviceOfCode: Readonly<Record<string, string>> = {
  EACCES: noRight,
  EPERM: noRight,
  ENOSPC: noSpace,
  EDQUOT: noSpace,
  EISDIR: noPath,
  ELOOP: noPath,
  ENAMETOOLONG: noPath,
  ENOTDIR: noPath,
}

function reportUsageErrors(
  context: CommandContext,
  faults: readonly string[],
  ...advice: readonly string[]
): number {
  context.stderr.writeLines(...faults.map((fault) => `dossier: ${fault}`), ...advice)
  return 2
}

function unknownCommand(name: string): string {
  if (name.startsWith('-')) {
    return `${withoutPasswords(name)} must follow the command: dossier COMMAND [OPTIONS]`
  }
  // Another command than was meant could do harm: `restore` is near `revoke`, of keys.
  const near = commandNames.find((one) => isMisspelling(one, name))
  const advice = near === undefined ? 'see: dossier --help' : `did you mean ${near}?`
  return `${withoutPasswords(name)} is not a command; ${advice}`
}

function help(commands: readonly Command[]): string {
  return `Dossier ${programVersion()}: a read-only company registry data service.

Usage: dossier COMMAND [OPTIONS]

Commands:
${columns(commands.map((one) => [nameOf(one), one.summary]))}

Try it:              dossier demo
Serve your own data: dossier import companies companies.csv
                     dossier import rights rights.ndjson
                     dossier keys create --name first-client
                     dossier serve

Help on a command:   dossier COMMAND --help
`
}
