// The order of a source's extracts, the same for both databases.

import { OperatorError } from '../../config/operator-error.ts'
import { shortMoment } from '../../text/short-moment.ts'
import type { ImportPlan } from '../importing.ts'

/**
 * Compares the day of an extract with that of the source's last one.
 *
 * @param last the latest day as of which the source has been imported, in wire form.
 * @throws OperatorError if that is later.
 */
export function refuseOlder(plan: ImportPlan, asOf: string, last: string | null): void {
  if (last === null || last <= asOf) return
  const ofRows = plan.asOf === undefined ? ' by the latest as_of of its rows' : ''
  throw new OperatorError(
    `the extract is as of ${shortMoment(asOf)}${ofRows}, but the last import of ` +
      `${plan.target.name} ` +
      `from the source ${plan.source} is as of ${shortMoment(last)}; ` +
      'import extracts in the order of their dates',
  )
}

/**
 * An extract without a day would replace what the source said without recording the changes.
 *
 * @throws OperatorError if an earlier extract of the source had a day.
 */
export function refuseUndated(plan: ImportPlan, last: string | null): void {
  if (last === null) return
  throw new OperatorError(
    `${plan.source} was last imported as of ${shortMoment(last)}; give --as-of, ` +
      'or --no-history to record nothing',
  )
}
