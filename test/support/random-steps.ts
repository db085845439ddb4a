// Random work on a registry: imports of all kinds, removals of sources, reverts and prunes, in any
// order.

import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { changeResource } from '../../src/resources/index.ts'
import type { ImportReport } from '../../src/import/import-files.ts'
import type { RevertReport } from '../../src/store/writing.ts'
import { importRows, queryStore } from './import-rows.ts'
import { prune, remove, revert } from './write-store.ts'

export type Row = Readonly<Record<string, unknown>>

/** A company by its id, or by its number in the register if the store assigns the id. */
export type Company = number | string

type Target = 'companies' | 'rights' | 'events' | 'employees'

/** What a row says. */
export interface GivenRow {
  /** What tells the record from others of its source. */
  readonly name: string
  readonly id: number | undefined
  readonly key: string | undefined
  readonly company: Company
  /** The fields, or what is said of the company. */
  readonly row: Row
}

/** An import of random rows; without any, the removal of all that the source has. */
export interface ImportStep {
  readonly kind: 'import'
  readonly target: Target
  readonly source: 'a' | 'b'
  readonly isSnapshot: boolean
  readonly isRecorded: boolean
  readonly given: readonly GivenRow[]
  /** The attribute with the names of companies. */
  readonly nameAttribute: string | undefined
  /** What companies are called in their register after the import. */
  readonly numbers?: ReadonlyMap<Company, string>
}

export type Step =
  | ImportStep
  /** Takes back up to so many of the last versions, or the first of these with what follows it. */
  | { readonly kind: 'revert'; readonly versions: number; readonly isOfOne: boolean }
  /** Keeps so many of the last versions, and the one before these. */
  | { readonly kind: 'prune'; readonly kept: number }

/** A text in which records seem to be cut. */
const cut = 'Ж},{"id":1,'.repeat(250)

const keys = ['1', '01', 'x', 'X', ' x', 'x ', 'é', 'e\u0301', '#', '=', `a,"\\{}'`, '0']

const importStep: fc.Arbitrary<ImportStep> = fc
  .record({
    target: fc.constantFrom<Target>('companies', 'companies', 'rights', 'events', 'employees'),
    source: fc.constantFrom('a' as const, 'b' as const),
    isSnapshot: fc.boolean(),
    isRecorded: fc.boolean(),
    attribute: fc.constantFrom(undefined, undefined, 'name', 'town'),
    drawn: fc.uniqueArray(
      fc.record({
        n: fc.integer({ min: 1, max: 12 }),
        identity: fc.constantFrom('id', 'id', 'id', 'key', 'content'),
        companies: fc.uniqueArray(fc.constantFrom<Company>(1, 2, 'n3', 'n4', 'n5'), {
          minLength: 1,
          maxLength: 2,
        }),
        value: fc.constantFrom('x', 'y', '\uffee', '😀', 'z'.repeat(3_000), cut),
        day: fc.constantFrom('2020-01-01', '2020-01-02', '2020-01-03'),
      }),
      { maxLength: 10, selector: ({ n }) => n },
    ),
  })
  .map(({ target, source, attribute, drawn, ...kinds }) => {
    const given = drawn.flatMap((one) => givenRows(target, source, one))
    const hasRows = given.length > 0
    const isSnapshot = kinds.isSnapshot || !hasRows
    const isRecorded = kinds.isRecorded && hasRows
    const nameAttribute = target === 'companies' && hasRows ? attribute : undefined
    return { kind: 'import', target, source, isSnapshot, isRecorded, given, nameAttribute }
  })

interface Drawn {
  readonly n: number
  readonly identity: string
  readonly companies: readonly Company[]
  readonly value: string
  readonly day: string
}

function givenRows(target: Target, source: string, drawn: Drawn): GivenRow[] {
  const { n, identity, companies, value, day } = drawn
  if (target === 'companies') {
    return [
      {
        name: '',
        id: undefined,
        key: undefined,
        company: n < 3 ? n : `n${n}`,
        row: { name: value, town: day },
      },
    ]
  }
  const id = identity === 'id' ? n + (source === 'a' ? 0 : 100) : undefined
  const key = identity === 'key' ? keys[n - 1] : undefined
  const name = identity === 'content' ? `${n} ${value.slice(0, 9)} ${day}` : `${identity} ${n}`
  const [date, mark] = [`${day}T00:00:00Z`, `${source} ${name}`]
  const row = {
    rights: { name: value, object_type: mark, status: value.slice(0, 9), registration_date: date },
    employees: { name: value, position: day, employer_name: mark },
    events: { date, attr: value.slice(0, 9), identifier: mark },
  }[target]
  return companies.map((company) => ({ name, id, key, company, row }))
}

/** What a company is called in its register, if nothing else has called it before. */
export const usualNumber = (company: Company) =>
  typeof company === 'string' ? company : `n${company}`

/** A row as it is in a file. */
function rowOf(target: Target, { id, key, company, row }: GivenRow, number: string): object {
  if (target === 'companies') {
    const given = typeof company === 'number' ? { id: company } : {}
    return { ...given, jurisdiction: 'GB', identifier: number, ...row }
  }
  const of =
    typeof company === 'number'
      ? { company_id: company }
      : { company_jurisdiction: 'GB', company_identifier: number }
  return { id, key, ...of, ...row }
}

export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: importStep },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('revert' as const),
      versions: fc.integer({ min: 1, max: 3 }),
      isOfOne: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('prune' as const),
      kept: fc.constantFrom(0, 0, 1, 2, 5),
    }),
  },
)

/** @param day that of the step's place in the sequence: imports with a day go forward. */
export async function runImport(
  db: string,
  { target, source, isSnapshot, isRecorded, given, nameAttribute, numbers }: ImportStep,
  day: number,
): Promise<ImportReport | undefined> {
  if (given.length === 0) {
    // There may be nothing to remove.
    await remove(db, target, source).catch((error: unknown) => {
      if (!/ has nothing of /.test(String(error))) throw error
    })
    return undefined
  }
  const recording =
    isRecorded && (target === 'companies' || target === 'employees')
      ? { asOf: asOfDay(day), recordIn: changeResource }
      : {}
  const of = { source, isSnapshot, ...recording, nameAttribute }
  const numberOf = (company: Company) => numbers?.get(company) ?? usualNumber(company)
  const rows = given.map((one) => rowOf(target, one, numberOf(one.company)))
  return importRows(db, target, rows, of)
}

interface Done {
  readonly report?: ImportReport
  readonly reverted?: RevertReport['reverted']
  /** The version whose state is there again. */
  readonly to?: number | undefined
}

/** @param day as of `runImport`. */
export async function runStep(
  db: string,
  step: Step,
  { day, latest, earliest }: { day: number; latest: number; earliest: number },
): Promise<Done> {
  // A reader of this process ends its transaction with the turn; until then, what is written waits.
  await nextTurn()
  if (step.kind === 'import') {
    const report = await runImport(db, step, day)
    return report ? { report } : {}
  }
  if (latest === 0) return {}
  if (step.kind === 'prune') {
    const sql = `select committed_at from imports where version = ${latest - step.kept + 1}`
    const [kept] = await queryStore(db, sql)
    await prune(db, kept && Number(kept['committed_at']))
    return {}
  }
  const to = Math.max(latest - step.versions, earliest)
  if (to >= latest || to === 0) return {}
  const range = step.isOfOne ? { version: to + 1, isWithLater: true } : { to }
  try {
    await revert(db, range, true)
    const { reverted } = await revert(db, range)
    return { reverted, to: step.isOfOne ? undefined : to }
  } catch (error) {
    const isRefused =
      step.isOfOne && /: version \d+ (was reverted by|is a withholding,) /.test(String(error))
    if (isRefused) return {}
    throw error
  }
}

export function asOfDay(day: number): string {
  return `${new Date(Date.UTC(2021, 0, day)).toISOString().slice(0, 19)}Z`
}
