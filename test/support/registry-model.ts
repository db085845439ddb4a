// The registry as plain values: what the imports in force say, one after the other, as the
// operator's guide describes it. A revert only changes which imports those are.

import assert from 'node:assert/strict'
import { companyMembers } from '../../src/store/companies/company-text.ts'
import { resources } from '../../src/resources/index.ts'
import type { Resource } from '../../src/resources/resource.ts'
import type { Copy } from './follower.ts'
import { inOrder, type WireRecord } from './make-record.ts'
import { asOfDay, type Company, type ImportStep, type Row, usualNumber } from './random-steps.ts'

interface LoggedImport extends ImportStep {
  readonly version: number
  readonly asOf: string | null
}

interface HeldRecord {
  readonly resource: string
  readonly source: string
  readonly id: number | undefined
  readonly row: Row
  readonly companies: ReadonlySet<Company>
}

interface Said {
  readonly attributes: Row
  readonly isPresent: boolean
  readonly asOf: string | null
  readonly saidIn: number
  /** By an operator, with all that the source has. */
  readonly isRemoved: boolean
}

/** What a version of the registry has. */
export interface State {
  /** By what tells them apart. */
  readonly records: Map<string, HeldRecord>
  /** Their numbers in the register. */
  readonly companies: Map<Company, string | null>
  readonly said: Map<Company, Map<string, Said>>
}

export type Model = ReturnType<typeof createModel>

interface KeptModel {
  readonly inForce: readonly ReadonlyMap<string, readonly LoggedImport[]>[]
  readonly ids: Ids
}

/** @param kept by `keep` of a model, whose state this one has. */
export function createModel(kept?: KeptModel) {
  /** After each version, the imports in force, by their target and source. */
  const inForce = [...(kept?.inForce ?? [new Map<string, readonly LoggedImport[]>()])]
  const ids = new Map(kept?.ids)
  const nowInForce = () => {
    const imports = [...(inForce.at(-1)?.values() ?? [])].flat()
    return imports.sort((a, b) => a.version - b.version)
  }
  const add = (group: string, imports: readonly LoggedImport[]) =>
    inForce.push(new Map(inForce.at(-1)).set(group, imports))
  return {
    latest: () => inForce.length - 1,
    keep: (): KeptModel => structuredClone({ inForce, ids }),
    /** The versions of the imports in force. */
    inForce: () => nowInForce().map(({ version }) => version),
    /**
     * An import that calls companies what imports in force call them, and gives others a number
     * that none has had.
     *
     * @param day as of `runStep`.
     */
    withNumbers(step: ImportStep, day: number): ImportStep {
      const known = [...fold(nowInForce()).companies]
      const numbers = new Map(known.flatMap(([one, number]) => (number ? [[one, number]] : [])))
      for (const { company } of step.target === 'companies' ? step.given : []) {
        if (numbers.has(company)) continue
        const number = usualNumber(company)
        numbers.set(company, number === company ? number : `${number}/${day}`)
      }
      return { ...step, numbers }
    },
    /**
     * @param day as of `runStep`.
     * @returns what its report is to say.
     */
    addImport(step: ImportStep, day: number) {
      const before = fold(nowInForce())
      const { target, source, isRecorded } = step
      const isDated = isRecorded && target === 'companies'
      const one = { ...step, version: inForce.length, asOf: isDated ? asOfDay(day) : null }
      const group = `${target} ${source}`
      add(group, [...(inForce.at(-1)?.get(group) ?? []), one])
      return countsOf(step, listed(before, step), listed(fold(nowInForce()), step))
    },
    /** Takes back versions of a target and source, all from the first of them on. */
    addRevert(target: string, source: string, reverts: readonly number[]): void {
      const group = `${target} ${source}`
      add(group, inForce[Math.min(...reverts) - 1]?.get(group) ?? [])
    },
    /** Checks what is served of all companies at the last version, in its order. */
    check(served: Copy): void {
      const state = fold(nowInForce())
      // What is recorded of officers is not of this model.
      const told = [...served].filter(([, text]) => !text.includes('"attr":"officers"'))
      const plain = told.map(([key, text]) => [key, text.replaceAll(saidVersion, '"version":0')])
      learnIds(state, served, ids)
      const naming = nowInForce().filter(({ nameAttribute }) => nameAttribute !== undefined)
      const nameIn = (source: string) =>
        naming.findLast((one) => one.source === source)?.nameAttribute ?? 'name'
      assert.deepEqual(plain, expected(state, ids, nameIn))
    },
  }
}

/** In what a source says, the version in which it was last changed. */
const saidVersion = /"version":\d+/g

/** The records of an import's source in its listings, with their content. */
function listed({ records }: State, { target, source }: ImportStep): Map<string, string> {
  const own = [...records].filter(([, one]) => one.resource === target && one.source === source)
  return new Map(
    own.flatMap(([name, { row, companies }]) =>
      [...companies].map((company) => [`${name} in ${company}`, JSON.stringify(row)] as const),
    ),
  )
}

function countsOf(
  { target, source, given }: ImportStep,
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
) {
  const told = given.map(({ name, company }) => `${target} ${source} ${name} in ${company}`)
  return {
    read: given.length,
    inserted: told.filter((one) => !before.has(one)).length,
    updated: [...now].filter(([one, row]) => (before.get(one) ?? row) !== row).length,
    unchanged: told.filter((one) => before.get(one) === now.get(one)).length,
    removed: [...before.keys()].filter((one) => !now.has(one)).length,
  }
}

function fold(imports: readonly LoggedImport[]): State {
  const state: State = { records: new Map(), companies: new Map(), said: new Map() }
  for (const one of imports) {
    for (const { company } of one.given) {
      if (!state.companies.has(company)) {
        state.companies.set(company, typeof company === 'string' ? company : null)
      }
    }
    if (one.target === 'companies') takeCompanies(state, one)
    else takeRecords(state, one)
  }
  return state
}

function takeRecords({ records }: State, { target, source, given, isSnapshot }: LoggedImport) {
  const told = Map.groupBy(given, ({ name }) => `${target} ${source} ${name}`)
  for (const [name, { companies, ...held }] of records) {
    if (!isSnapshot || held.resource !== target || held.source !== source) continue
    const rows = told.get(name) ?? []
    const left = new Set(rows.map(({ company }) => company)).intersection(companies)
    if (left.size === 0) records.delete(name)
    else records.set(name, { ...held, companies: left })
  }
  for (const [name, [first = assert.fail(), ...more]] of told) {
    const companies = new Set(records.get(name)?.companies)
    for (const { company } of [first, ...more]) companies.add(company)
    const { id, row } = first
    records.set(name, { resource: target, source, id, row, companies })
  }
}

function takeCompanies({ records, companies, said }: State, one: LoggedImport): void {
  const { source, asOf, version, isRecorded, isSnapshot } = one
  const record = (company: Company, attr: string, before: unknown, after: unknown): void => {
    if (!isRecorded || before === after) return
    const identifier = one.numbers?.get(company) ?? companies.get(company)
    const change = { date: asOf, attr, before, after, identifier }
    records.set(`events ${source}/companies ${version} ${company} ${attr}`, {
      resource: 'events',
      source: `${source}/companies`,
      id: undefined,
      row: { jurisdiction: 'GB', ...change },
      companies: new Set([company]),
    })
  }
  const told = new Map(one.given.map((given) => [given.company, given]))
  for (const [company, { row }] of told) {
    companies.set(company, one.numbers?.get(company) ?? usualNumber(company))
    const bySource = said.get(company) ?? new Map<string, Said>()
    const former = bySource.get(source)
    if (former?.isPresent === false && !former.isRemoved)
      record(company, 'register_entry', 'absent', 'present')
    if (former) for (const attr in row) record(company, attr, former.attributes[attr], row[attr])
    const isSame = former?.isPresent && JSON.stringify(former.attributes) === JSON.stringify(row)
    if (!isSame)
      bySource.set(source, {
        attributes: row,
        isPresent: true,
        asOf,
        saidIn: version,
        isRemoved: false,
      })
    said.set(company, bySource)
  }
  for (const [company, bySource] of isSnapshot ? said : []) {
    const former = bySource.get(source)
    if (former?.isPresent !== true || told.has(company)) continue
    record(company, 'register_entry', 'present', 'absent')
    bySource.set(source, { ...former, isPresent: false, asOf, isRemoved: told.size === 0 })
  }
}

/** The ids of companies and records, for good. */
type Ids = ReadonlyMap<Company, number>

type NameIn = (source: string) => string

/** What is to be served, as `readServed` reads it. */
function expected(state: State, ids: Ids, nameIn: NameIn): [key: string, text: string][] {
  const idOf = (name: Company) => ids.get(name) ?? assert.fail(`${name} has no id`)
  const entries: [key: string, text: string][] = []
  for (const company of [...state.companies.keys()].sort((a, b) => idOf(a) - idOf(b))) {
    const id = idOf(company)
    entries.push([`companies ${id} ${id}`, companyText(state, company, id, nameIn)])
    for (const resource of resources) {
      const records = [...state.records]
        .filter(([, one]) => one.resource === resource.name && one.companies.has(company))
        .map(([name, { row }]) => recordOf(resource, idOf(name), row))
      for (const one of inOrder(resource, records)) {
        entries.push([`${resource.name} ${id} ${one.id}`, JSON.stringify(one)])
      }
    }
  }
  return entries
}

/** Each new record and company is served, and has an id that nothing else has had. */
function learnIds({ companies, records }: State, served: Copy, ids: Map<Company, number>): void {
  const learn = (name: Company, listing: string, row: Row) => {
    if (ids.has(name)) return
    const found = [...served].find(([key, text]) => {
      const one = key.startsWith(`${listing} `) ? (JSON.parse(text) as Row) : {}
      return Object.entries(row).every(([field, value]) => one[field] === value)
    })
    const id = Number(found?.[0].split(' ')[2] ?? assert.fail(`${name} is not served`))
    const scope = (one: Company) => (String(one).includes(' ') ? String(one).split(' ')[0] : '')
    const other = [...ids].find(([one, taken]) => taken === id && scope(one) === scope(name))
    assert.equal(other, undefined, `${name} has the id of another`)
    ids.set(name, id)
  }
  for (const [company, identifier] of companies) {
    if (typeof company === 'number') ids.set(company, company)
    else learn(company, 'companies', { identifier })
  }
  for (const [name, { resource, id, row }] of records) {
    if (id === undefined) learn(name, resource, row)
    else ids.set(name, id)
  }
}

/** A record as it is served. */
function recordOf({ fields }: Resource, id: number, row: Row): WireRecord {
  const blank = Object.entries(fields).map(([name, { kind }]) => {
    return [name, kind === 'text_list' ? [] : null]
  })
  return { ...(Object.fromEntries(blank) as Row), ...row, id }
}

function companyText({ companies, said }: State, company: Company, id: number, nameIn: NameIn) {
  const about = [...(said.get(company) ?? [])].sort(([a], [b]) => a.localeCompare(b))
  const names = about
    .map(([source, { attributes, ...one }]) => ({ ...one, name: attributes[nameIn(source)] }))
    .sort((a, b) => Number(a.isRemoved) - Number(b.isRemoved) || b.saidIn - a.saidIn)
  const identifier = companies.get(company) ?? null
  const jurisdiction = identifier === null ? null : 'GB'
  const name = (names[0]?.name ?? null) as string | null
  const sources = about.map(([source, { attributes, ...one }]) => {
    return { ...one, source, attributes: JSON.stringify(attributes), version: 0 }
  })
  return `{${companyMembers({ id, jurisdiction, identifier, name }, sources)}}`
}
