// Judges what an import would change: what is probably a mistake is refused before anything does.

import { formatCount } from '../text/format-count.ts'
import { OperatorError } from '../config/operator-error.ts'
import type { AttributeDifference, Earlier, Merged } from '../store/importing.ts'
import type { Change, ImportRequest } from './import-files.ts'

interface JudgedChange
  extends
    Change,
    Pick<Merged, 'companiesNamed'>,
    Pick<ImportRequest, 'source' | 'isSnapshot' | 'target'> {
  readonly earlier: Earlier
  /** The columns that have a value in the files. */
  readonly columns: readonly string[]
}

/** How many changes are never suspicious. */
const few = 5
const removedShareMax = 1 / 5
const changedShareMax = 4 / 5
const knownShareMin = 1 / 5
const goneShareMax = 1 / 5
const otherShareMax = 1 / 2
const toldShare = 1 / 100

/** @throws OperatorError if the import changes so much that it is probably a mistake. */
export function judgeChange(change: JudgedChange): void {
  if (change.target.resource === undefined) refuseStrangers(change)
  else refuseOtherIdentity(change)
  refuseLargeChange(change)
  refuseAttributes(change)
}

/** The ids are probably written differently than before, or come from another register. */
function refuseStrangers(change: JudgedChange): void {
  const { source, counts, isSnapshot, earlier, difference, companiesNamed: named = 0 } = change
  if (counts.inserted <= few) return
  const known = named - counts.inserted
  const isNext = !isSnapshot && earlier.imports.length > 0 && difference.known > few
  if (!isNext || known >= named * knownShareMin) return
  throw new OperatorError(
    `of these ${formatCount(named)} companies, only ${formatCount(known)} are among the ` +
      `${formatCount(difference.known)} of ${source}; nothing was changed. Correct the ` +
      'identifiers in the file or in a mapping, or name another --source; if the companies are ' +
      'new, add --accept',
  )
}

/** Records that are identified differently than before would be added to the known ones. */
function refuseOtherIdentity({ source, counts, difference, earlier, columns }: JudgedChange): void {
  if (counts.inserted <= few || difference.known <= few) return
  const had = identities.filter((name) => earlier.attributes.includes(name))
  const has = identities.filter((name) => columns.includes(name))
  if (has.length === 0 ? had.length === 0 : has.some((name) => had.includes(name))) return
  const [now, before] = [has, had].map((names) => names.join(' or ') || 'their content alone')
  throw new OperatorError(
    `the records of ${source} have been identified by ${before} so far, but these are by ${now}: ` +
      `${formatCount(counts.inserted)} would be added to the ${formatCount(difference.known)} ` +
      'of the source; nothing was changed. If that is intended, add --accept',
  )
}

const identities = ['id', 'key'] as const

/** An import may do again what the last one did: some sources always change as a whole. */
function refuseLargeChange({ counts, difference, earlier, target }: JudgedChange): void {
  const { removed, updated } = counts
  const { known } = difference
  const last = earlier.difference
  const isUsual = last !== undefined && last.updated > last.known * changedShareMax
  const changes: readonly (readonly [count: number, max: number, verb: string])[] = [
    [removed, removedShareMax, 'remove'],
    [isUsual ? 0 : updated, changedShareMax, 'change'],
  ]
  for (const [count, max, verb] of changes) {
    if (count <= few || count <= known * max) continue
    throw new OperatorError(
      `the import would ${verb} ${formatCount(count)} of the ${formatCount(known)} ` +
        `${target.name} of the source, so nothing was changed; if that is intended, add --accept`,
    )
  }
}

/** Judges each attribute by itself: its column may be blank, or have moved. */
function refuseAttributes({ difference, earlier, target }: JudgedChange): void {
  const { known, attributes } = difference
  for (const attribute of attributes) {
    const { name, gone, changed } = attribute
    const usual = earlier.difference
    const before = usual?.attributes.find((one) => one.name === name)
    const wasSo = (count: 'gone' | 'changed', share: number) =>
      usual !== undefined && before !== undefined && isMany(before[count], usual.known, share)
    const of = `${formatCount(known)} ${target.name} of the source`
    if (isMany(gone, known, goneShareMax) && !wasSo('gone', goneShareMax)) {
      throw attributeRefused(attribute, `would be removed from ${formatCount(gone)} of the ${of}`)
    }
    if (isMany(changed, known, otherShareMax) && !wasSo('changed', otherShareMax)) {
      throw attributeRefused(attribute, `would change in ${formatCount(changed)} of the ${of}`)
    }
  }
}

const isMany = (count: number, known: number, share: number) => count > few && count > known * share

function attributeRefused({ name, examples }: AttributeDifference, what: string): OperatorError {
  const [first] = examples
  const shown = (value: string | null) => (value === null ? 'nothing' : JSON.stringify(value))
  const example = first ? ` (${shown(first.before)} → ${shown(first.after)})` : ''
  return new OperatorError(
    `${name} ${what}${example}, so nothing was changed; if that is intended, add --accept`,
  )
}

/** Warnings about a change that is not refused, a sentence each. */
export function warningsOf(
  change: Omit<JudgedChange, 'earlier' | 'columns'>,
  isAccepted: boolean,
): string[] {
  const { counts, source, target, difference, companiesNamed = Infinity } = change
  const { companiesCreated, removed } = counts
  const { known } = difference
  const warnings: string[] = []
  if (!isAccepted && removed > known * toldShare) {
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
  return warnings
}
