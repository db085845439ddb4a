// Records the differences between two extracts as records of the resource for changes.

import type { Resource } from '../resources/resource.ts'
import type { ChangeFields, HistoryTrait } from '../resources/traits.ts'
import {
  type Difference,
  type ListingState,
  type Recording,
  recordingSource,
} from '../store/importing.ts'
import { OperatorError } from '../config/operator-error.ts'
import {
  type AttributeChange,
  attributeText,
  presenceAttr,
  textChanges,
} from '../store/companies/attribute-text.ts'
import { byCodePoint } from '../store/record-texts.ts'
import { checkRecord } from './rows/check-record.ts'
import type { ImportTarget } from './import-targets.ts'
import { Refusal, type SourceRow } from '../files/refusal.ts'

/**
 * How an import's changes are recorded; undefined if they are not.
 *
 * @param resource the resource that holds changes.
 * @param source the extracts' source. Recorded changes have a source name of their own, so that
 *   they and records that the source itself imports do not affect each other.
 * @param isFirst whether the source has an attribute for the first time, which is not a change.
 */
export function recordingOf(
  target: ImportTarget,
  resource: Resource,
  source: string,
  isFirst: (attr: string) => boolean,
): Recording | undefined {
  const { changeFields } = resource
  const { changesOf } = target
  if (changeFields === undefined || changesOf === undefined) return undefined
  const check = checkRecord(resource)
  const isKnown = ({ attr, before }: AttributeChange) =>
    before !== null || target.resource !== undefined || !isFirst(attr)
  const changesIn = ({ before, after }: Difference) => changesOf(before, after).filter(isKnown)
  return {
    resource,
    source: recordingSource(source, target.name),
    record: (difference) =>
      changesIn(difference).map((change) => {
        const row = check(changeRow(changeFields, difference, change))
        if (!(row instanceof Refusal)) return row
        const { id, jurisdiction, identifier } = difference.company
        const company = identifier ? `${jurisdiction} ${identifier}` : id
        const fields = target.resource?.history?.fields ?? [change.attr]
        throw new OperatorError(
          `the change of ${change.attr} of company ${company} cannot be recorded: ` +
            `${fields.join(' and ')} as one text ${row.reason}, or import with --no-history`,
        )
      }),
  }
}

function changeRow(
  fields: ChangeFields,
  { company, asOf }: Difference,
  change: AttributeChange,
): SourceRow {
  return {
    company_id: company.id,
    [fields.jurisdiction]: company.jurisdiction,
    [fields.identifier]: company.identifier,
    [fields.date]: asOf,
    [fields.attr]: change.attr,
    [fields.before]: change.before,
    [fields.after]: change.after,
  }
}

/** Whether the company appeared or disappeared, then each attribute that differs, by name. */
export function companyChanges(before: ListingState, after: ListingState): AttributeChange[] {
  const changes: AttributeChange[] = []
  if (before.isPresent !== after.isPresent) {
    const presence = ({ isPresent }: ListingState) => (isPresent ? 'present' : 'absent')
    changes.push({ attr: presenceAttr, before: presence(before), after: presence(after) })
  }
  const texts = [before, after].map(({ texts: [text = '{}'] }) => text) as [string, string]
  return [...changes, ...textChanges(...texts).sort((a, b) => byCodePoint(a.attr, b.attr))]
}

/** A record of a listing, reduced to what its history records. */
interface Entry {
  readonly id: unknown
  readonly text: string
  readonly sameBy: unknown
}

/**
 * What was added, removed and changed in a listing of a resource with a history.
 *
 * Listings are compared as sets of texts: the same text under another id is not a change. A removed
 * and an added entry are one change if they have the same id or, since many sources renumber their
 * records, the same value of the declaration's `sameBy` field.
 */
export function listingChanges(
  history: HistoryTrait,
  before: ListingState,
  after: ListingState,
): AttributeChange[] {
  const old = entriesOf(history, before)
  const now = entriesOf(history, after)
  const removed = withoutTexts(old, new Set(now.map(({ text }) => text)))
  const added = withoutTexts(now, new Set(old.map(({ text }) => text)))
  const changes = [...pair(removed, added, 'id'), ...pair(removed, added, 'sameBy')].map(
    ([from, to]) => ({ attr: history.attr, before: from.text, after: to.text }),
  )
  return [
    ...changes,
    ...[...removed].map(({ text }) => ({ attr: history.attr, before: text, after: null })),
    ...[...added].map(({ text }) => ({ attr: history.attr, before: null, after: text })),
  ]
}

/** Removes and returns pairs, one from each set, that have the same value of a member. */
function pair(removed: Set<Entry>, added: Set<Entry>, member: 'id' | 'sameBy'): [Entry, Entry][] {
  const candidates = Map.groupBy(added, (entry) => entry[member])
  const pairs: [Entry, Entry][] = []
  for (const entry of [...removed]) {
    const other = entry[member] === null ? undefined : candidates.get(entry[member])?.shift()
    if (other === undefined) continue
    pairs.push([entry, other])
    removed.delete(entry)
    added.delete(other)
  }
  return pairs
}

/** The entries with a text, in the order of the listing. */
function entriesOf({ fields, sameBy }: HistoryTrait, { texts }: ListingState): Entry[] {
  return texts
    .map((text) => JSON.parse(text) as SourceRow)
    .map((record) => ({
      id: record['id'],
      text: fields
        .map((field) => attributeText(record[field]))
        .filter((value) => value !== null)
        .join(', '),
      sameBy: record[sameBy] ?? null,
    }))
    .filter(({ text }) => text !== '')
}

function withoutTexts(entries: readonly Entry[], texts: ReadonlySet<string>): Set<Entry> {
  const remaining = new Map<string, Entry>()
  for (const entry of entries) if (!texts.has(entry.text)) remaining.set(entry.text, entry)
  return new Set(remaining.values())
}
