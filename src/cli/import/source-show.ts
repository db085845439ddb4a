// Prints what `dossier sources show` shows: how a source is imported.

import { UsageError } from '../../config/settings.ts'
import { countOf, formatCount } from '../../text/format-count.ts'
import { shortMoment } from '../../text/moment.ts'
import type { SourceRecipe } from '../../store/inspecting.ts'
import type { CommandContext, Input } from '../command.ts'
import { commandText } from './recipe.ts'
import { oneLine } from '../table.ts'

const daysShown = 6

/** Prints the recipes of a source, or with --sql their mappings. */
export function printRecipes(
  source: string,
  recipes: readonly SourceRecipe[],
  { flags }: Input,
  { stdout }: CommandContext,
): void {
  if (flags.has('json')) return stdout.writeJson(recipes.map((one) => jsonOf(source, one)))
  if (!flags.has('sql')) {
    const blocks = recipes.map((one) => recipeLines(source, one))
    return stdout.writeLines(...blocks.flatMap((block, n) => (n === 0 ? block : ['', ...block])))
  }
  const mapped = recipes.filter(({ recipe }) => recipe.mapping !== undefined)
  if (mapped.length === 0) throw new UsageError(`the recipe of ${source} has no mapping`)
  for (const { target, last, recipe } of mapped) {
    const title = `-- ${target} from source ${source}, as in version ${last.version}`
    stdout.write(`${title}\n${(recipe.mapping ?? '').trimEnd()}\n`)
  }
}

/** The command of the last import. */
function commandOf(source: string, { target, last, recipe }: SourceRecipe): string {
  const day = last.asOf === undefined ? [] : [`--as-of=${shortMoment(last.asOf)}`]
  const files = last.files.map(({ name }) => name)
  return commandText(['import', target, ...files, `--source=${source}`, ...recipe.options, ...day])
}

function jsonOf(source: string, one: SourceRecipe): object {
  const { target, imports, last, recipe } = one
  const dates = imports.flatMap(({ asOf }) => asOf ?? [])
  const { version, files } = last
  const { options, mapping = null } = recipe
  const command = commandOf(source, one)
  return { source, resource: target, version, command, options, mapping, dates, files }
}

function recipeLines(source: string, one: SourceRecipe): string[] {
  const { target, imports, last, recipe } = one
  const { mapping } = recipe
  const days = imports.flatMap(({ asOf }) => (asOf === undefined ? [] : [shortMoment(asOf)]))
  const lines = mapping?.trimEnd().split('\n').length ?? 0
  const more = days.length > daysShown ? '…, ' : ''
  return [
    `${target} from source ${source}: ${countOf(imports.length, 'import')} in effect, ` +
      `the last is version ${last.version}`,
    `  ${commandOf(source, one)}`,
    ...(mapping === undefined ? [] : [`  mapping: ${countOf(lines, 'line')}; print it with --sql`]),
    ...(days.length === 0 ? [] : [`  dates: ${more}${days.slice(-daysShown).join(', ')}`]),
    ...last.files.map(
      ({ name, bytes, sha256 }) => `  ${oneLine(name)}  ${formatCount(bytes)} bytes  ${sha256}`,
    ),
    `  for the next extract: dossier update ${source} FILE…`,
  ]
}
