// Rows of what stood and what comes, put together to one difference for each company.

import type { Difference, Standing } from '../importing.ts'
import type { Row } from './database.ts'

/** A difference whose texts are still being read. */
interface OpenDifference extends Difference {
  readonly before: OpenStanding
  readonly after: OpenStanding
}

interface OpenStanding extends Standing {
  readonly texts: string[]
}

/**
 * Collects rows that come in the order of their companies: each a text that a company's source says
 * before an import (`is_before`), after it (`is_after`), or both.
 */
interface DifferenceCollector {
  /** Gives the difference of the company before, where this row is of the next one. */
  add(row: Row): Difference | undefined
  /** Gives the last difference. */
  end(): Difference | undefined
}

export function collectDifferences(): DifferenceCollector {
  let open: OpenDifference | undefined
  return {
    add(row) {
      const complete = open !== undefined && open.companyId !== Number(row['id']) ? open : undefined
      if (open === undefined || complete !== undefined) open = openDifference(row)
      if (row['is_before']) open.before.texts.push(String(row['text']))
      if (row['is_after']) open.after.texts.push(String(row['text']))
      return complete
    },
    end: () => open,
  }
}

function openDifference(row: Row): OpenDifference {
  return {
    companyId: Number(row['id']),
    companyJurisdiction: row['jurisdiction'] as string | null,
    companyIdentifier: row['identifier'] as string | null,
    asOf: String(row['as_of']),
    before: { isPresent: Boolean(row['was_present']), texts: [] },
    after: { isPresent: Boolean(row['is_present']), texts: [] },
  }
}
