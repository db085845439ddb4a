// Where a store has its tables: all in one database, or spread over several nodes by company. In a
// spread store, rows can be joined only where they are, so what compares rows of several companies
// has statements of its own, and a row is found by its company and not only by its number.

import { type AcrossCompanies, acrossCompanies } from './across-companies.ts'

/** The SQL that depends on where tables are. Expressions in arguments are inserted unchanged. */
export interface Layout {
  /**
   * Whether tables are spread over several nodes. Then `stage.company_id` is the company to which a
   * row belongs (below 0 if there is none), and not what the row says.
   */
  readonly isSpread: boolean
  /** The table into which rows are staged, as they are read. */
  readonly arrived: string
  /** The identifier of the company of one of its rows `s` that has it. */
  readonly arrivedIdentifier: string
  /**
   * Statements that fill `stage` from `arrived`, once the companies of its rows are named and
   * created; none if `stage` is that table.
   */
  readonly settle: readonly string[]
  /** Columns of `stage s`, besides its own, for messages about its rows. */
  readonly asRead: string
  /** A further condition of a join by a row's number: that both rows are of one company. */
  sameCompany(one: string, other: string): string
  /** Numbers rows, which are found again by number and company. */
  rowNumber(company: string, order?: string): string
  /** A value that does not depend on the rows of the statement. */
  once(value: string): string
  /** A subquery: the position after the last one of a table `r`'s rows that fulfil a condition. */
  endOf(table: string, condition: string): string
  /** A subquery: the first value of a query's rows in an order. */
  firstOf(value: string, from: string, order: string): string
  /** A text by which rows are ordered, by its bytes. */
  byBytes(text: string): string
  /** Ends a subquery that finds the rows that the query around it is to look up. */
  readonly apart: string
  /**
   * Ends a query on tables that every node has, so that it is answered where company $1 is. Empty
   * if they are nowhere else.
   */
  readonly atCompany: string
  /** How `indexNames` reads chunks, where its own query could not be run. */
  readonly affectedChunks?: string
  readonly across: AcrossCompanies
}

/** The layout of a store that has all its tables in one database. */
export const together: Layout = {
  isSpread: false,
  arrived: 'stage',
  arrivedIdentifier: 'company_identifier',
  settle: [],
  asRead: '',
  sameCompany: () => '',
  rowNumber: (company, order) =>
    `row_number() over (${order === undefined ? '' : `order by ${company}, ${order}`})`,
  once: (value) => value,
  endOf: (table, condition) =>
    `select r.position + 1 from ${table} r where ${condition} order by r.position desc limit 1`,
  firstOf: (value, from, order) => `select ${value} from ${from} order by ${order} limit 1`,
  byBytes: (text) => text,
  apart: '',
  atCompany: '',
  across: acrossCompanies,
}
