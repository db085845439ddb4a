// The versions of the registry: the import that made each, the day of its extract, and when it was
// imported.

import type { Company, Version, VersionsAnswer } from '../answers.ts'
import { type Answer, pruned } from '../api.ts'
import { html } from '../html.ts'
import { formatMoment, formatTimestamp, labelOf } from '../format.ts'
import { changesResource, resourceNamed } from '../resources.ts'
import { texts } from '../texts.ts'
import { type Loaded, useAnswer } from '../use-answer.ts'
import { useEvent } from '../use-event.ts'

const versionsMax = 1_000

/** The versions of the registry. */
export interface Versions {
  /** The newest ones, oldest first; undefined until they are known. */
  readonly versions: readonly Version[] | undefined
  /** The number of the first one that can still be read. */
  readonly earliest: number
  readonly loaded: Loaded<Answer<VersionsAnswer>>
}

/** @param isAsked whether they are needed yet. */
export function useVersions(isAsked: boolean): Versions {
  const path = `versions?limit=${versionsMax}`
  const loaded = useAnswer<VersionsAnswer>(isAsked ? path : undefined, path)
  useEvent(pruned, loaded.retry)
  if (loaded.value === undefined) return { versions: undefined, earliest: 1, loaded }
  const { versions, earliest_version: earliest } = loaded.value.body
  return { versions: versions.toReversed(), earliest, loaded }
}

/** What is withheld is logged as from a source with a name that no source can have. */
const isWithheld = ({ source }: Version) => source.includes('/')

/** What an import brought, such as "Employees from gov"; or of what something was withheld. */
function importOf(version: Version): string {
  const known = resourceNamed(version.resource)
  const what = known === undefined ? labelOf(version.resource) : texts.plural(known.title)
  return isWithheld(version) ? texts.timeWithheld(what) : texts.timeImport(what, version.source)
}

/** When a version was imported. */
export function momentOf({ committed_at: at }: Version): string {
  return formatMoment(Date.parse(at))
}

/** The day of the extract, if it is known, and when it was imported. */
export function daysOf(version: Version): string {
  const imported = texts.importedAt(momentOf(version))
  return version.as_of === null
    ? imported
    : `${texts.extractOf(formatTimestamp(version.as_of))}, ${imported}`
}

/** A version with its import and its days, most important first: narrow lists cut the rest. */
export function describeVersion(version: Version): string {
  return [texts.timeVersion(version.version), importOf(version), daysOf(version)].join(' · ')
}

/** The version with a number, or the last one before it. */
export function versionAt(versions: readonly Version[], number: number): Version | undefined {
  return versions.findLast(({ version }) => version <= number)
}

/** The version that last changed anything shown of a company; 0 if none did. */
export function lastTouch({ sources, listings }: Company): number {
  const touches = [...sources, ...Object.values(listings)].map(({ version }) => version)
  return Math.max(0, ...touches)
}

/** The last import of each source of a kind, up to a version, newest first. */
export function lastImports(
  versions: readonly Version[],
  resource: string,
  upTo: number,
): readonly Version[] {
  const newest = new Map<string, Version>()
  for (const version of versions) {
    // Imports of other resources may record changes, too.
    const isOf =
      version.resource === resource || (version.events > 0 && resource === changesResource?.name)
    if (!isOf || isWithheld(version) || version.version > upTo) continue
    newest.delete(version.source)
    newest.set(version.source, version)
  }
  return [...newest.values()].toReversed()
}

/** The `resource` of versions that are imports of companies. */
export const companiesResource = 'companies'

const sourcesMax = 3

/** How fresh records are. @param imports the last import of each source, newest first. */
export function Freshness({ imports }: { readonly imports: readonly Version[] }) {
  return imports.slice(0, sourcesMax).map(
    (version) =>
      html`<p key=${version.source} class="hint freshness"><bdi>
          ${texts.freshness(version.source, daysOf(version))}</bdi></p>`,
  )
}
