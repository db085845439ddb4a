// The order of a source's extracts, which is the same whichever database is behind the store.

import { OperatorError } from '../../operator-error.ts'
import { shortMoment } from '../../short-moment.ts'
import type { ImportPlan } from '../importing.ts'

/**
 * Holds the day of an extract against the last one of its source.
 *
 * @param last the latest day that the source has been imported as of, in the form of the wire
 * @throws OperatorError where that is later.
 */
export function refuseOlder(plan: ImportPlan, asOf: string, last: string | null): void {
  if (last === null || last <= asOf) return
  throw new OperatorError(
    `the extract is as of ${shortMoment(asOf)}, but the last import of ${plan.target.name} ` +
      `from the source ${plan.source} is as of ${shortMoment(last)}; ` +
      'import extracts in the order of their dates',
  )
}
