// `dossier update`: imports the next extract of a source by its recipe.

import { basename } from 'node:path'
import { UsageError } from '../../config/settings.ts'
import { KnownFiles } from '../../import/earlier-imports.ts'
import { nearest } from '../../text/nearest.ts'
import { OperatorError } from '../../config/operator-error.ts'
import { resources } from '../../resources/index.ts'
import type { SourceRecipe } from '../../store/inspecting.ts'
import { isRecordingSource } from '../../store/importing.ts'
import { openStoreInspector } from '../../store/open-store.ts'
import {
  type Command,
  type CommandContext,
  type Input,
  keepingChanges,
  parseInput,
} from '../command.ts'
import { importCommand, runImport } from './import.ts'
import { commandText, givenOptions, recipeWords } from './recipe.ts'
import { storeOf } from '../progress.ts'

const { '--source NAME': _, ...ofImport } = importCommand.options

export const update: Command = {
  summary: 'import the next extract of a source in the same way as the last',
  synopsis: ['update SOURCE FILE… [--as-of DATE] [OPTIONS]'],
  details: `
Imports FILE by the recipe of SOURCE: the options and the mapping of its last import that has not
been reverted (\`dossier sources show SOURCE\` prints them). If the last file held several kinds of
records, all of them are imported, each in one transaction; a dry run checks each against the
registry as it is, without the companies that the file adds. Options given here replace those of the
recipe, and become part of it, except --rejects, --accept, --future, --allow-empty, --complete and
--record-first, which hold for one import. To drop an option, import once with the others:
\`dossier import RESOURCE FILE… --source SOURCE\` sets a new recipe.

The file of the last import is skipped (exit code 0). An earlier file, or another one of the same
date, is refused; --accept imports it as a part that arrived late.

  dossier update nse nse-2026-11.csv --as-of 2026-11-30
  dossier update nse nse-2026-11.csv --as-of 2026-11-30 --dry-run`,
  options: { '--resource NAME': 'only this listing, or companies', ...ofImport },
  settings: ['db', 'withheld'],
  async run(input, context) {
    const [source, ...files] = input.words
    if (source === undefined) throw new UsageError('name the source; see: dossier sources')
    if (files.length === 0) throw new UsageError(`name the files to update ${source} from`)
    const recipes = await findRecipes(source, input, context)
    const chosen = chooseRecipes(recipes, { source, files, input })
    refuseForMany(chosen, input)
    for (const [n, one] of chosen.entries()) {
      let code = 1
      try {
        code = await updateBy(one, { source, files, input, context })
      } catch (error) {
        throw n === 0 ? error : keepingChanges(error, context)
      } finally {
        const rest = chosen.slice(n + 1).map(({ target }) => target)
        if (code !== 0 && rest.length > 0) {
          context.stderr.writeLines(`Not imported, since ${one.target} failed: ${rest.join(', ')}`)
        }
      }
      if (code !== 0) return code
    }
    return 0
  },
}

interface Asked {
  readonly source: string
  readonly files: readonly string[]
  readonly input: Input
}

/**
 * The recipes of a source.
 *
 * @throws OperatorError if there is none.
 */
export async function findRecipes(
  source: string,
  input: Input,
  context: CommandContext,
): Promise<readonly SourceRecipe[]> {
  await using store = await openStoreInspector(storeOf(input, context), resources)
  const recipes = await store.readRecipes(source)
  if (recipes.length > 0) return recipes
  const sources = (await store.listSources()).map((one) => one.source)
  const known = [...new Set(sources)].filter((name) => !isRecordingSource(name))
  const near = nearest(source, known)
  if (near !== undefined && near !== source) {
    throw new OperatorError(`there is no source ${source}; did you mean ${near}?`)
  }
  throw new OperatorError(
    `${source} has no recipe, since it has no import that is in effect; import it first: ` +
      `dossier import … --source ${source}`,
  )
}

/** The recipes that apply to the files: those that had the same files before. */
function chooseRecipes(
  recipes: readonly SourceRecipe[],
  { source, files, input }: Asked,
): readonly SourceRecipe[] {
  const { resource } = input.options
  if (resource !== undefined) {
    const one = recipes.find(({ target }) => target === resource)
    if (one !== undefined) return [one]
    const targets = recipes.map(({ target }) => target).join(', ')
    throw new UsageError(`--resource is ${resource}; ${source} has recipes for ${targets}`)
  }
  const groups = [...Map.groupBy(recipes, filesOf).values()]
  const [only] = groups
  if (groups.length === 1 && only !== undefined) return only
  const alike = groups.filter(([one]) => namesOf(lastNames(one)) === namesOf(files))
  if (alike.length === 1 && alike[0] !== undefined) return alike[0]
  const known = recipes.map((one) => `${one.target} (last from ${lastNames(one).join(', ')})`)
  throw new OperatorError(
    `${source} gives ${known.join(' and ')}; choose which these files are: --resource NAME`,
  )
}

/** A mapping, or a file of refused rows, is for one kind. */
function refuseForMany(chosen: readonly SourceRecipe[], { options }: Input): void {
  const name = ['map', 'rejects'].find((one) => options[one] !== undefined)
  if (name === undefined || chosen.length < 2) return
  const targets = chosen.map(({ target }) => target)
  throw new UsageError(
    `--${name} is for one kind, but these files give ${targets.join(' and ')}; add --resource ` +
      targets.join(' or '),
  )
}

const filesOf = ({ last }: SourceRecipe) => last.files.map(({ sha256 }) => sha256).join()

const lastNames = (one: SourceRecipe | undefined) => one?.last.files.map(({ name }) => name) ?? []

/** Names of files without the digits that differ from one extract to the next. */
const namesOf = (files: readonly string[]) =>
  [...new Set(files.map((name) => basename(name).replace(/\d+/g, '#')))].sort().join()

async function updateBy(
  one: SourceRecipe,
  { source, files, input, context }: Asked & { readonly context: CommandContext },
): Promise<number> {
  const { target, recipe } = one
  const given = givenOptions(importCommand, input)
  const names = new Set(given.map(([name]) => name))
  const words = [
    'import',
    target,
    // A name that begins with a dash would be taken for an option.
    ...files.map((path) => path.replace(/^-(?=.)/, './-')),
    `--source=${source}`,
    ...recipeWords(recipe, names),
    ...given.map(([, word]) => word),
  ]
  const { db, withheld } = input.settings
  const list = withheld === undefined ? [] : [`--withheld=${withheld}`]
  const args = [...words.slice(1), `--db=${db}`, ...list]
  const isJson = input.flags.has('json')
  if (!isJson) context.stdout.writeLines(commandText(words))
  const parsed = parseInput(importCommand, args, context.environment)
  try {
    const mapping = names.has('map') ? undefined : recipe.mapping
    const isDated = recipe.options.includes('--history')
    return await runImport(parsed, context, { mapping, isDated })
  } catch (error) {
    if (!(error instanceof KnownFiles)) throw error
    const { message, version } = error
    const known = { version: null, resource: target, source, files_of_version: version }
    if (isJson) context.stdout.writeJson(known)
    else context.stdout.writeLines(`${target}: ${message}`)
    return 0
  }
}
