// Rows of what stood and what comes, put together to one difference for each company.

import type { Difference, Standing } from '../importing.ts'

/** One text that a company's source says before an import, after it, or both. */
export interface DifferenceRow {
  readonly id: number
  readonly jurisdiction: string | null
  readonly identifier: string | null
  readonly as_of: string
  readonly was_present: boolean | number
  readonly is_present: boolean | number
  readonly text: string
  readonly is_before: boolean | number
  readonly is_after: boolean | number
}

/** A difference whose texts are still being read. */
interface OpenDifference extends Difference {
  readonly before: OpenStanding
  readonly after: OpenStanding
}

interface OpenStanding extends Standing {
  readonly texts: string[]
}

/** Collects rows that come in the order of their companies. */
interface DifferenceCollector {
  /** Gives the difference of the company before, where this row is of the next one. */
  add(row: DifferenceRow): Difference | undefined
  /** Gives the last difference. */
  end(): Difference | undefined
}

export function collectDifferences(): DifferenceCollector {
  let open: OpenDifference | undefined
  return {
    add(row) {
      const complete = open !== undefined && open.companyId !== row.id ? open : undefined
      if (open === undefined || complete !== undefined) open = openDifference(row)
      if (row.is_before) open.before.texts.push(row.text)
      if (row.is_after) open.after.texts.push(row.text)
      return complete
    },
    end: () => open,
  }
}

function openDifference(row: DifferenceRow): OpenDifference {
  return {
    companyId: row.id,
    companyJurisdiction: row.jurisdiction,
    companyIdentifier: row.identifier,
    asOf: row.as_of,
    before: { isPresent: Boolean(row.was_present), texts: [] },
    after: { isPresent: Boolean(row.is_present), texts: [] },
  }
}
