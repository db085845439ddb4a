// The differences between the SQL of the two databases. All other SQL is written once, over these.

import type { Resource } from '../../resources/resource.ts'
import type { Value } from './database.ts'
import type { Layout } from './layout.ts'
import type { CompanyStatements } from './named-companies.ts'

/** A database's dialect. Expressions and names in arguments are inserted into the SQL unchanged. */
export interface Dialect extends Layout {
  /** The functions for the greatest and the least of several values, none of which is null. */
  readonly greatest: string
  readonly least: string
  /** The type of text that is compared by its bytes. */
  readonly text: string
  /** The type of a 64-bit integer that is a table's primary key. */
  readonly integer: string
  /** The type of a value of any kind; `anyValueOf` makes one. */
  readonly anyValue: string
  /** The type of a temporary table's column by which single rows are looked up. */
  readonly rowKey: string
  /** The schema of temporary tables. */
  readonly temporary: string
  /** A join that reads its left side first, whatever the planner's estimates. */
  readonly orderedJoin: string
  /** The table that finds a company by name, and its column with the company's id. */
  readonly companyNames: { readonly table: string; readonly id: string }
  /** A resource's table, for looking up records by id. */
  byId(name: string, alias?: string): string
  /** A text without its first character. */
  withoutFirst(text: string): string
  /** Converts a value to the type `anyValue`. */
  anyValueOf(value: string): string
  /** A member of a JSON object, as JSON text. */
  jsonMember(json: string, name: string): string
  /** The number of elements in a JSON array; null for null. */
  jsonLength(json: string): string
  /** The content of a JSON string. */
  jsonString(json: string): string
  /** An integer, as an element of a JSON array. */
  jsonInteger(element: string): string
  /** The elements of a JSON array as rows `alias`, with an ascending `key`, and `value`. */
  jsonElements(json: string, alias: string): string
  /** The members of a JSON object, as rows of `key` and `value`, in their order. */
  jsonMembers(json: string, alias: string): string
  /**
   * The statements to run after a temporary table has been filled, so that queries on it get good
   * plans.
   *
   * @param searchedBy the columns by which its rows will be looked up; none if it is read whole.
   */
  filled(table: string, searchedBy?: string): readonly string[]
  /** Creates a temporary table whose rows are read in the order of `key`, if that costs nothing. */
  sortedTable(name: string, columns: string, key: string): string
  /** An aggregate: texts joined by commas, in the order of `place`, that of a `sortedTable`. */
  joined(text: string, place: string): string
  /** A part of a text: `bytes` bytes after the first `at`. */
  slice(text: string, at: string, bytes: string): string
  /** A member of a JSON object, as text; null for null. */
  jsonValue(json: string, name: string): string
  /** The column `entry` of a query as one value, in an order; `numbersOf` decodes it. */
  numbers(query: string, order: string): string
  numbersOf(value: Value): Int32Array
  /** Two columns of a table as JSON text: an array of pairs, in an order. */
  pairs(table: string, first: string, second: string, order: string): string
  /** The member of a JSON object that an expression names, if it is a string; else null. */
  jsonText(json: string, name: string): string
  /** An element of a JSON array, as text. */
  jsonItem(json: string, at: number): string
  /** An aggregate: the values as a JSON array, in the order of the rows. */
  jsonArray(value: string): string
  /** Bytes, given as hexadecimal digits. */
  bytesOfHex(digits: string): string
  /** Seconds since 1970 of a timestamp in wire form. */
  unixSeconds(timestamp: string): string
  /** Deletes the rows of a table at the positions of `cut`. */
  deleteCut(table: string): string
  /** Statements around the first load of a resource's table, when no reader needs its index. */
  firstLoad(resource: Resource): { readonly before: string[]; readonly after: string[] }
  /** Statements that name and create the companies that rows refer to. */
  readonly companies: CompanyStatements
}
