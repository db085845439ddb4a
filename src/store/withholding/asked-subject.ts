// What an operator asks to withhold, and what is said if it is not there.

import { OperatorError } from '../../config/operator-error.ts'
import type { CompanyName } from '../inspecting.ts'
import type { IdSubject, OrderKind } from './list/entries.ts'

/** What to withhold, as an operator names it. */
export type AskedSubject =
  | IdSubject
  | { readonly resource: string; readonly field: string; readonly value: string }
  | { readonly company: CompanyName; readonly text?: string | undefined }

/**
 * The error of an order for which the registry has nothing.
 *
 * @param isKnown whether the registry has or had the company of an order for one.
 */
export function nothingThere(
  { kind, subject }: { readonly kind: OrderKind; readonly subject: AskedSubject },
  isKnown: boolean,
): OperatorError {
  const [what, ofMasked] = lackOf(subject, isKnown)
  const advice = [
    ...(kind === 'erase' && ofMasked !== '' ? [ofMasked] : []),
    // They outlive the versions that were pruned.
    ...('resource' in subject ? ['hide words in recorded changes with company … --text'] : []),
  ].join('; ')
  const said = advice === '' ? '' : ` (${advice})`
  return new OperatorError(`${what}, now or in a past version${said}; nothing was withheld`)
}

/** What the registry lacks, and what applies to an erasure if it was masked before. */
function lackOf(
  subject: AskedSubject,
  isKnown: boolean,
): readonly [what: string, ofMasked: string] {
  if ('id' in subject) return [`${subject.resource} has no record ${subject.id}`, '']
  if ('field' in subject) {
    const { resource, field } = subject
    const ofMasked = 'name a masked record by its id'
    return [`no record of ${resource} has this value in ${field}`, ofMasked]
  }
  const company = `company ${[subject.company].flat().join(' ')}`
  if (!isKnown) return [`${company} is not in the registry`, '']
  const ofMasked = 'words already masked are kept masked'
  return [`${company} has no such text of three letters or more`, ofMasked]
}
