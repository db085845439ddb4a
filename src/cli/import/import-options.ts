// The options and arguments of an import that set what it loads, and for which source.

import { UsageError } from '../../config/settings.ts'
import { companies, type ImportTarget, importTargets } from '../../import/import-targets.ts'
import { Refusal } from '../../files/refusal.ts'
import { normaliseTimestamp, otherDay } from '../../import/rows/timestamp.ts'
import { advise } from '../../text/nearest.ts'
import { changeResource, resources } from '../../resources/index.ts'
import type { Input } from '../command.ts'
import { shellWord } from '../../text/shell-word.ts'

const targets = importTargets(resources)

/** The names of the resources whose changes can be recorded on request. */
export const historical = resources.filter(({ history }) => history).map(({ name }) => name)

/** @throws UsageError that suggests the nearest target. */
export function parseTarget(word: string | undefined): ImportTarget {
  const target = targets.find(({ name }) => name === word)
  if (target !== undefined) return target
  const names = targets.map(({ name }) => name)
  if (word === undefined) throw new UsageError(`name what to import: ${names.join(', ')}`)
  if (/[./*]/.test(word)) {
    const advice = `dossier import ${targets[0]?.name} ${shellWord(word)}`
    throw new UsageError(`before ${word}, name what it contains, such as: ${advice}`)
  }
  throw new UsageError(`${word} cannot be imported; ${advise(word, names)}`)
}

/**
 * Returns the date of the extract, and the resource in which its changes are recorded.
 *
 * @param isDated whether the last import had a day, so that the import itself refuses to lack one.
 */
export function parseHistory(target: ImportTarget, { options, flags }: Input, isDated = false) {
  const { name, resource, changesOf } = target
  const word = options['as-of']
  const asOf = word === undefined ? undefined : normaliseTimestamp(word, 'seconds')
  if (asOf instanceof Refusal) {
    throw new UsageError(`--as-of is ${JSON.stringify(word)}; it ${asOf.reason}`)
  }
  if (asOf !== undefined && word !== undefined && otherDay(word, asOf)) {
    throw new UsageError(
      `--as-of ${word} is ${asOf.slice(0, 10)} in UTC; write the day alone: ${word.slice(0, 10)}`,
    )
  }
  const isHistory = flags.has('history')
  if (isHistory && resource?.history === undefined) {
    const advice = changesOf === undefined ? '' : `; of ${name}, --as-of is enough`
    throw new UsageError(`--history is only for ${historical.join(', ')}${advice}`)
  }
  if (isHistory && asOf === undefined && !isDated) {
    throw new UsageError('--history needs the date of the extract: --as-of DATE')
  }
  const isUnrecorded = flags.has('no-history')
  if (isUnrecorded && changesOf === undefined) {
    throw new UsageError(`--no-history does not apply to ${name}, whose changes are not recorded`)
  }
  if (isHistory && isUnrecorded)
    throw new UsageError('--history and --no-history exclude each other')
  const isRecorded = !isUnrecorded && (isHistory || resource === undefined)
  return { asOf, recordIn: isRecorded ? changeResource : undefined }
}

export function parseNameAttribute(
  target: ImportTarget,
  word: string | undefined,
): string | undefined {
  if (word === undefined) return undefined
  if (target !== companies) {
    throw new UsageError(`--name-attribute applies to companies only, not to ${target.name}`)
  }
  if (/^[\p{L}\p{N}_][^"\\\p{Cc}]{0,255}$/u.test(word)) return word
  throw new UsageError(
    `--name-attribute is ${JSON.stringify(word)}; it takes the name of a column that begins with ` +
      'a letter, a digit or _',
  )
}
