// The arguments of `dossier withhold`: what an order is about, and why.

import { UsageError } from '../../config/settings.ts'
import { parseDay } from '../../http/requests/filter-values.ts'
import { formatCount } from '../../text/format-count.ts'
import { advise } from '../../text/nearest.ts'
import { resources } from '../../resources/index.ts'
import type { OrderKind, Reason } from '../../store/withholding/list/entries.ts'
import { personalFields } from '../../store/withholding/personal.ts'
import type { AskedSubject } from '../../store/withholding/asked-subject.ts'
import type { CommandContext, Input } from '../command.ts'
import { parseCompany, wholeNumber } from '../option-values.ts'
import { formatDay } from '../table.ts'

/**
 * Parses the subject of an order from the words after its kind.
 *
 * @throws UsageError that names what they take.
 */
export function parseSubject(kind: OrderKind, { words, options: { text } }: Input): AskedSubject {
  const [what, ...names] = words
  if (what === 'company') return parseCompanyOrder(kind, names, text)
  if (text !== undefined) throw new UsageError('--text applies to companies only')
  const known = resources.map(({ name }) => name)
  const resource = resources.find(({ name }) => name === what)
  if (resource === undefined) {
    const advice = advise(what, [...known, 'company'])
    const fault =
      what === undefined ? `withhold ${kind} needs a RESOURCE` : `${what} is not a resource`
    throw new UsageError(`${fault}; ${advice}`)
  }
  const fields = personalFields(resource)
  if (kind === 'mask' && fields.length === 0) {
    throw new UsageError(`${resource.name} have no personal fields to mask; erase the record`)
  }
  const [name, ...more] = names
  if (name === undefined || more.length > 0) {
    throw new UsageError(`withhold ${kind} ${resource.name} takes one ID, or FIELD=VALUE`)
  }
  const end = name.indexOf('=')
  if (end < 0) return { resource: resource.name, id: parseId(name) }
  const [field, value] = [name.slice(0, end), name.slice(end + 1)]
  if (!fields.includes(field)) {
    const which = fields.length === 0 ? 'none' : fields.join(', ')
    throw new UsageError(
      `${field} is not a personal field of ${resource.name}; choose from ${which}`,
    )
  }
  if (value.trim() === '') throw new UsageError(`${field}= needs a value`)
  return { resource: resource.name, field, value }
}

function parseCompanyOrder(
  kind: OrderKind,
  names: readonly string[],
  text: string | undefined,
): AskedSubject {
  if (kind === 'mask' && text === undefined) {
    throw new UsageError(
      'a company cannot be masked; erase it, or mask words (--text) or its records',
    )
  }
  return { company: parseCompany(names), text }
}

function parseId(word: string): number {
  const id = wholeNumber(word)
  if (id > 0) return id
  throw new UsageError(`${JSON.stringify(word)} is not an ID; it takes a number, or FIELD=VALUE`)
}

const textMax = 1_000

/**
 * The reason of an order, who asked for it, and on which day.
 *
 * @param isOptional for a dry run, which is not recorded.
 * @throws UsageError for one that is missing, or a day that is invalid.
 */
export function parseReason(
  { options }: Input,
  { now }: CommandContext,
  isOptional: boolean,
): Reason {
  const textOf = (name: 'reason' | 'by') => {
    const text = (options[name] ?? '').trim()
    if (text === '' && !isOptional) throw new UsageError(`--${name} is required, for the list`)
    if (text.length <= textMax) return text
    throw new UsageError(`--${name} has more than ${formatCount(textMax)} characters`)
  }
  const day = options['day'] ?? formatDay(now())
  if (parseDay(day) === undefined) {
    throw new UsageError(`--day is ${JSON.stringify(day)}; it takes a day such as 2026-11-30`)
  }
  return { reason: textOf('reason'), by: textOf('by'), day }
}
