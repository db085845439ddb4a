// Random work on a registry: imports of all kinds, reverts and prunes, in any order.

import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { changeResource } from '../../src/resources/index.ts'
import { importRows } from './import-rows.ts'
import { prune, revert } from './write-store.ts'

type Target = 'companies' | 'rights' | 'events' | 'employees'

/** An import of random rows. */
export interface ImportStep {
  readonly kind: 'import'
  readonly target: Target
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly isRecorded: boolean
  readonly rows: readonly object[]
  /** The attribute with the names of companies. */
  readonly nameAttribute: string | undefined
}

export type Step =
  | ImportStep
  /** Takes back up to so many of the last versions. */
  | { readonly kind: 'revert'; readonly versions: number }
  | { readonly kind: 'prune' }

export const importStep: fc.Arbitrary<ImportStep> = fc
  .record({
    target: fc.constantFrom<Target>('companies', 'rights', 'events', 'events', 'employees'),
    source: fc.constantFrom('a' as const, 'b' as const),
    isSnapshot: fc.boolean(),
    isRecorded: fc.boolean(),
    attribute: fc.constantFrom(undefined, undefined, 'name', 'town'),
    given: fc.uniqueArray(
      fc.record({
        id: fc.integer({ min: 1, max: 12 }),
        company: fc.integer({ min: 1, max: 5 }),
        value: fc.constantFrom('x', 'y', '\uffee', '😀', 'z'.repeat(3_000)),
        day: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03'),
      }),
      { minLength: 1, maxLength: 10, selector: ({ id }) => id },
    ),
  })
  .map(({ target, source, isSnapshot, isRecorded, attribute, given }) => {
    const own = source === 'a' ? 0 : 100
    const rows = given.map(({ id, company, value, day }) => {
      // Some companies by number, the others by name.
      const of =
        company < 3
          ? { company_id: company }
          : { company_jurisdiction: 'GB', company_identifier: `n${company}` }
      if (target === 'companies') {
        return { jurisdiction: 'GB', identifier: `n${id}`, name: value, town: day }
      }
      if (target === 'employees') return { id: id + own, ...of, name: value, position: day }
      if (target === 'events') return { id: id + own, ...of, date: day, attr: value.slice(0, 9) }
      return { id: id + own, ...of, name: value, status: value.slice(0, 9), registration_date: day }
    })
    const nameAttribute = target === 'companies' ? attribute : undefined
    return { kind: 'import', target, source, isSnapshot, isRecorded, rows, nameAttribute }
  })

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: importStep },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('revert' as const),
      versions: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const) }) },
)

/**
 * @param day that of the step's place in the sequence: imports with a day go forward.
 * @returns the version, unless the store refused rows: then nothing is loaded.
 */
export async function runImport(
  db: string,
  { target, source, isSnapshot, isRecorded, rows, nameAttribute }: ImportStep,
  day: number,
): Promise<number | undefined> {
  const recording =
    isRecorded && (target === 'companies' || target === 'employees')
      ? { asOf: asOfDay(day), recordIn: changeResource }
      : {}
  const of = { source, isSnapshot, ...recording, nameAttribute }
  return (await importRows(db, target, rows, of)).version
}

/** @param day as of `runImport`. */
export async function runStep(
  db: string,
  step: Step,
  { day, latest, earliest }: { day: number; latest: number; earliest: number },
): Promise<void> {
  // A reader of this process ends its transaction with the turn; until then, what is written waits.
  await nextTurn()
  if (step.kind === 'import') {
    await runImport(db, step, day)
    return
  }
  if (latest === 0) return
  if (step.kind === 'prune') {
    await prune(db)
    return
  }
  const to = Math.max(latest - step.versions, earliest)
  if (to < latest && to !== 0) await revert(db, { to })
}

function asOfDay(day: number): string {
  return `${new Date(Date.UTC(2021, 0, day)).toISOString().slice(0, 19)}Z`
}
