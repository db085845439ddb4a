// `dossier withhold`: removes or masks people's data, lists what is withheld, and lifts orders.

import { OperatorError } from '../../config/operator-error.ts'
import { UsageError } from '../../config/settings.ts'
import { resources } from '../../resources/index.ts'
import {
  describeStore,
  hasStore,
  openExistingStore,
  openStoreInspector,
  openStoreWriter,
} from '../../store/open-store.ts'
import type { Entry, Order, OrderKind } from '../../store/withholding/list/entries.ts'
import { personalFields } from '../../store/withholding/personal.ts'
import type { Withheld } from '../../store/withholding/withhold.ts'
import type { StoreWriter } from '../../store/writing.ts'
import {
  byAction,
  type Command,
  type CommandContext,
  type Input,
  print,
  refuseWords,
} from '../command.ts'
import { confirm } from '../confirm.ts'
import { exportLines, withdrawExports } from './withdraw-exports.ts'
import { storeOf, watchWork } from '../progress.ts'
import { oneLine, tableLines } from '../table.ts'
import { entryJson, reportJson, reportLines } from './withhold-report.ts'
import { parseReason, parseSubject } from './withhold-words.ts'

const maskable = resources.filter((resource) => personalFields(resource).length > 0)
const fieldLines = maskable
  .map((resource) => `  ${resource.name.padEnd(14)}${personalFields(resource).join(', ')}`)
  .join('\n')

export const withhold: Command = {
  summary: "permanently mask or erase a person's or a company's data",
  synopsis: [
    'withhold {mask|erase} RESOURCE ID --reason TEXT --by NAME [OPTIONS]',
    'withhold {mask|erase} RESOURCE FIELD=VALUE --reason TEXT --by NAME [OPTIONS]',
    'withhold erase company COMPANY --reason TEXT --by NAME [OPTIONS]',
    'withhold {mask|erase} company … --text WORDS --reason TEXT --by NAME [OPTIONS]',
    'withhold list [--json]',
    'withhold lift NUMBER --reason TEXT --by NAME [--day YYYY-MM-DD] [--yes]',
    'withhold adopt --reason TEXT --by NAME [OPTIONS]',
  ],
  details: `
Withholds one record, the records with a value in a personal field, or a company: in the present,
in every past version, and in whatever is imported later. \`mask\` keeps the record; its personal
fields read [withheld] or null. \`erase\` removes the record from its listing; an erased company is
unknown. Words of a person's personal fields are replaced by [withheld] in the attributes and the
recorded changes of their companies; \`erase\` removes such values from the changes entirely. If a
later import has the record in another company, they are replaced there, too.
COMPANY is an id, or a register number such as GB:09876543; with --text, only these words in the
company's attributes and recorded changes are withheld.

Personal fields:
${fieldLines}

Each order is a line of a list next to the store (--withheld), which holds hashes instead of what
identifies people. Back up the list separately: it brings a restored backup of the store up to
date. Run \`dossier compact\` afterwards to remove the data from the files. The files of complete
copies in the folder of --exports that contain the data are deleted. \`lift\` ends an order: the
data returns with the next import that contains it; an update from the same file needs --accept.

A list belongs to one registry, and every other one refuses it. \`adopt\` makes it the list of a
registry that has been rebuilt, preferably before its first import, and carries out its orders.

\`mask\`, \`erase\` and \`adopt\` show what would change and ask for confirmation; without a
terminal, they need --yes. \`lift\` does not ask, with or without --yes.

  dossier withhold erase employees identifier=770412345678 --dry-run
  dossier withhold erase employees identifier=770412345678 --reason 'GDPR 17' --by 'A. Person'
  dossier withhold mask rights 4711 --reason 'court order 7/26' --by legal
  dossier withhold adopt --reason 'registry rebuilt' --by 'A. Person'
  dossier withhold list`,
  options: {
    '--text WORDS': 'withhold only these words in the attributes and recorded changes of a company',
    '--reason TEXT': 'why; recorded in the list',
    '--by NAME': 'who asked for it; recorded in the list',
    '--day YYYY-MM-DD': 'the day of the request (default: today)',
    '--yes': 'withhold without asking',
    '--dry-run': 'show every place that would change, and change nothing',
    '--json': 'print the report, or the list, as JSON',
  },
  settings: ['db', 'withheld', 'exports'],
  run: byAction('withhold', {
    mask: (input, context) => order('mask', input, context),
    erase: (input, context) => order('erase', input, context),
    list,
    lift,
    adopt,
  }),
}

const copiesKeepIt = 'Complete copies, if any, still contain it: run dossier compact --exports DIR.'

async function order(kind: OrderKind, input: Input, context: CommandContext): Promise<number> {
  const subject = parseSubject(kind, input)
  const reason = parseReason(input, context, input.flags.has('dry-run'))
  await using store = await openExistingStore(storeOf(input, context), resources)
  const request = { ...reason, kind, subject, startedAt: context.now(), ...watchWork(context) }
  return await carryOut(store, input, context, {
    run: (isDryRun) => store.withhold({ ...request, isDryRun }),
    question: 'Withhold this permanently? [y/N] ',
    purpose: 'to withhold this',
    done: `${doneWords[kind]} as order`,
  })
}

async function adopt(input: Input, context: CommandContext): Promise<number> {
  refuseWords('withhold adopt', input.words)
  const isDryRun = input.flags.has('dry-run')
  const reason = parseReason(input, context, isDryRun)
  const at = storeOf(input, context)
  const question = 'Adopt the list and withhold this permanently? [y/N] '
  const purpose = 'to adopt the list'
  const isNew = !(await hasStore(at))
  if (isNew && isDryRun) {
    const name = describeStore(at.db)
    throw new OperatorError(`${name} does not exist; without --dry-run, this creates it`)
  }
  if (isNew && !input.flags.has('yes')) await confirm(question, context, purpose)
  await using store = await openStoreWriter(at, resources, { isToAdopt: true })
  const request = { ...reason, startedAt: context.now(), ...watchWork(context) }
  return await carryOut(store, input, context, {
    run: (isDry) => store.adopt({ ...request, isDryRun: isDry }),
    question: isNew ? undefined : question,
    purpose,
    done: 'Adopted the list as entry',
  })
}

/** A change of the list, with its question and its report. */
interface Work {
  readonly run: (isDryRun: boolean) => Promise<Withheld>
  /** Undefined if the question has been asked already. */
  readonly question: string | undefined
  readonly purpose: string
  readonly done: string
}

async function carryOut(
  store: StoreWriter,
  input: Input,
  context: CommandContext,
  { run, question, purpose, done }: Work,
): Promise<number> {
  const { flags, settings } = input
  const isDryRun = flags.has('dry-run')
  if (!isDryRun && !flags.has('yes') && question !== undefined) {
    const report = await run(true)
    context.stderr.writeLines(...reportLines(done, report).slice(0, -1))
    await confirm(question, context, purpose)
  }
  const report = await run(isDryRun)
  const reported = reportLines(done, report)
  const exports = isDryRun ? [] : await withdrawReporting(store, settings, reported, context)
  const lines = [...reported, ...exportLines(exports)]
  print(input, context, reportJson(report, exports), lines)
  const mayBeInCopies = report.version !== undefined && settings.exports === undefined
  if (mayBeInCopies) context.stderr.writeLines(copiesKeepIt)
  return 0
}

/** Withdraws copies; if that fails, what was done before is reported nevertheless. */
async function withdrawReporting(
  store: StoreWriter,
  settings: Input['settings'],
  reported: readonly string[],
  context: CommandContext,
): Promise<readonly number[]> {
  try {
    return await withdrawExports(store, settings, context)
  } catch (error) {
    context.stderr.writeLines(...reported, copiesKeepIt)
    throw error
  }
}

const doneWords = { mask: 'Masked', erase: 'Erased' } as const

async function list(input: Input, context: CommandContext): Promise<number> {
  refuseWords('withhold list', input.words)
  await using store = await openStoreInspector(storeOf(input, context), resources)
  const entries = await store.readWithheld()
  const lines = entries.length === 0 ? ['Nothing is withheld.'] : tableLines(entries.map(entryRow))
  print(input, context, entries.map(entryJson), lines)
  return 0
}

function entryRow(entry: Entry): string[] {
  const { number, day, by, reason } = entry
  return [String(number), day, describe(entry), `by ${oneLine(by)}`, oneLine(reason)]
}

function describe(entry: Entry): string {
  if ('lifts' in entry) return `lifts ${entry.lifts}`
  if ('adopts' in entry) return `adopted by registry ${entry.registry}`
  if ('finds' in entry) return `finds more of ${entry.finds.map(({ order }) => order).join(', ')}`
  return `${entry.kind} ${describeSubject(entry)}`
}

function describeSubject({ subject }: Order): string {
  if ('company' in subject) return `company ${subject.company}`
  if ('textOf' in subject) return `text of company ${subject.textOf}`
  if ('id' in subject) return `${subject.resource} ${subject.id}`
  return `${subject.resource} by ${subject.field}`
}

async function lift(input: Input, context: CommandContext): Promise<number> {
  const [word, ...more] = input.words
  if (word === undefined || more.length > 0 || !/^\d{1,9}$/.test(word)) {
    throw new UsageError('withhold lift takes one NUMBER; see: dossier withhold list')
  }
  const reason = parseReason(input, context, false)
  await using store = await openExistingStore(storeOf(input, context), resources)
  await store.lift({
    ...reason,
    lifts: Number(word),
    startedAt: context.now(),
    ...watchWork(context),
  })
  const next =
    'the data returns with the next import that contains it; to update from the last file again, ' +
    'add --accept'
  context.stdout.writeLines(`Lifted order ${word}: ${next}.`)
  return 0
}
