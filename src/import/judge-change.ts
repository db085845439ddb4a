// Judges what an import would change: what is probably a mistake is refused before anything does.

import { formatCount } from '../text/format-count.ts'
import type { Earlier, Merged, ValueChange } from '../store/importing.ts'
import type { Rail } from './guard-rails.ts'
import type { Change, ImportRequest } from './import-files.ts'

interface JudgedChange extends Change, ImportRequest, Pick<Merged, 'companiesNamed'> {
  /** The columns that have a value in the files. */
  readonly columns: readonly string[]
}

interface ComparedChange extends JudgedChange {
  readonly earlier: Earlier
}

/** How many changes are never suspicious. */
const few = 5
const removedShareMax = 1 / 5
const changedShareMax = 4 / 5
const knownShareMin = 1 / 5
const goneShareMax = 1 / 5
const otherShareMax = 1 / 2
const toldShare = 1 / 100

/** About how much an import changes. */
export const changeRails: readonly Rail<ComparedChange>[] = [
  { find: findStrangers, permission: 'accepted' },
  { find: findOtherIdentity, permission: 'accepted' },
  { find: findLargeChange, permission: 'accepted' },
]

/** The ids are probably written differently than before, or come from another register. */
function findStrangers(change: ComparedChange) {
  const { source, target, counts, isSnapshot, earlier, difference } = change
  const { companiesNamed: named = 0 } = change
  const known = named - counts.inserted
  const isNext = target.resource === undefined && !isSnapshot && earlier.imports.length > 0
  return (
    isNext &&
    areManyAdded(change) &&
    known < named * knownShareMin &&
    `of these ${formatCount(named)} companies, ${formatCount(known)} are among the ` +
      `${formatCount(difference.known)} of ${source}; nothing was changed. Correct the ` +
      'identifiers in the file or in a mapping, or name another --source; if the companies are new'
  )
}

/** Records that are identified differently than before would be added to the known ones. */
function findOtherIdentity(change: ComparedChange) {
  const { source, target, counts, difference, earlier, columns } = change
  if (target.resource === undefined || !areManyAdded(change)) return undefined
  const [has, had] = [columns, earlier.attributes].map(identityIn) as [string[], string[]]
  if (has.length === 0 ? had.length === 0 : has.some((name) => had.includes(name))) return undefined
  const [now, before] = [has, had].map((names) => names.join(' or ') || 'their content alone')
  return (
    `the records of ${source} have been identified by ${before} so far, but these are by ${now}: ` +
    `${formatCount(counts.inserted)} would be added to the ${formatCount(difference.known)} ` +
    'of the source; nothing was changed. If that is intended'
  )
}

const identityIn = (columns: readonly string[]) =>
  ['id', 'key'].filter((name) => columns.includes(name))

const areManyAdded = ({ counts, difference }: JudgedChange) =>
  counts.inserted > few && difference.known > few

/**
 * Each attribute is judged by itself, too: its column may be blank, or have moved. An import may do
 * again what the last one did: some sources always change as a whole.
 */
function findLargeChange({ counts, difference, earlier, target }: ComparedChange) {
  const { known, attributes } = difference
  const { known: lastKnown = 0, updated = 0, attributes: lastOnes = [] } = earlier.difference ?? {}
  const isMany = (count: number, share: number, of = known) => count > few && count > of * share
  const wasMany = (count = 0, share: number) => isMany(count, share, lastKnown)
  const all = (count: number) =>
    `${formatCount(count)} of the ${formatCount(known)} ${target.name} of the source`
  const found = [
    isMany(counts.removed, removedShareMax) && `the import would remove ${all(counts.removed)}`,
    isMany(counts.updated, changedShareMax) &&
      updated <= lastKnown * changedShareMax &&
      `the import would change ${all(counts.updated)}`,
    ...attributes.flatMap(({ name, gone, changed, examples }) => {
      const last = lastOnes.find((one) => one.name === name)
      return [
        isMany(gone, goneShareMax) &&
          !wasMany(last?.gone, goneShareMax) &&
          `${name} would be removed from ${all(gone)}${exampleOf(examples)}`,
        isMany(changed, otherShareMax) &&
          !wasMany(last?.changed, otherShareMax) &&
          `${name} would change in ${all(changed)}${exampleOf(examples)}`,
      ]
    }),
  ].find((one) => one !== false)
  return found && `${found}, so nothing was changed; if that is intended`
}

function exampleOf([first]: readonly ValueChange[]): string {
  const shown = (value: string | null) => (value === null ? 'nothing' : JSON.stringify(value))
  return first ? ` (${shown(first.before)} → ${shown(first.after)})` : ''
}

/** Warnings about a change that is not refused, a sentence each. */
export function warningsOf(change: JudgedChange): string[] {
  const { counts, source, target, difference, permissions, companiesNamed = Infinity } = change
  const { companiesCreated, removed } = counts
  const { known } = difference
  const warnings: string[] = []
  if (permissions?.accepted !== true && removed > known * toldShare) {
    const share = ((100 * removed) / known).toFixed(1)
    const of = `${formatCount(removed)} of the ${formatCount(known)} ${target.name} of ${source}`
    const lack = target.resource === undefined ? 'lack' : 'lack, or have in other companies,'
    warnings.push(`the files ${lack} ${of} (${share} %), to be removed; are the files complete?`)
  }
  if (target.resource !== undefined && companiesCreated > companiesNamed * knownShareMin) {
    warnings.push(
      `${formatCount(companiesCreated)} of ${formatCount(companiesNamed)} companies are not in ` +
        'the registry, and are created without a name; are their identifiers correct? To refuse ' +
        'them: --known-companies-only',
    )
  }
  if (isAgainWithoutIdentity(change)) {
    warnings.push(
      `${formatCount(counts.unchanged)} of these ${formatCount(counts.read)} records are known ` +
        'already, and the others are added: without id and key, a record that has changed stands ' +
        'beside its former state; if the files have all records, add --snapshot',
    )
  }
  return warnings
}

/** Whether these are the former files with some changes, whose records only their content names. */
const isAgainWithoutIdentity = ({ counts, target, columns, isSnapshot }: JudgedChange) =>
  target.resource !== undefined &&
  !isSnapshot &&
  counts.inserted > 0 &&
  counts.unchanged > counts.inserted &&
  identityIn(columns).length === 0
