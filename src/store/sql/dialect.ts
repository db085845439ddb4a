// The words in which the SQL of the two databases differs. All else is written once, over these.

import type { Resource } from '../../resources/resource.ts'
import type { CompanyStatements } from './named-companies.ts'

/** A database's words. What takes an expression or a name puts it into the SQL as it is. */
export interface Dialect {
  /** The greatest and the least of several values, none of which is null. */
  readonly greatest: string
  readonly least: string
  /** The type of text that is compared by its bytes. */
  readonly text: string
  /** The type of an integer of 64 bits, where it is a table's primary key. */
  readonly integer: string
  /** The type of a value of any kind; `jsonValue` makes one. */
  readonly anyValue: string
  /** The type of a temporary table's column by which its rows are sought, one at a time. */
  readonly rowKey: string
  /** The schema in which temporary tables are. */
  readonly temporary: string
  /** A join that reads its left side first, whatever the planner expects of it. */
  readonly orderedJoin: string
  /** Where a company is found by its name: a table, and its column that holds the company's id. */
  readonly companyNames: { readonly table: string; readonly id: string }
  /** A resource's table, of which records are sought by their ids. */
  byId(name: string, alias?: string): string
  /** A text without its first character. */
  withoutFirst(text: string): string
  /** A value as a column of the type `anyValue` holds it. */
  anyValueOf(value: string): string
  /** A member of a JSON object, as JSON text. */
  jsonMember(json: string, name: string): string
  /** How many elements a JSON array has; null for null. */
  jsonLength(json: string): string
  /** What a JSON string says. */
  jsonString(json: string): string
  /** The elements of a JSON array as rows `alias`: `key`, which ascends, and `value`. */
  jsonElements(json: string, alias: string): string
  /**
   * What follows the filling of a temporary table, so that it is read by good plans.
   *
   * @param searchedBy the columns by which rows of it will be sought; none where it is read whole.
   */
  filled(table: string, searchedBy?: string): readonly string[]
  /** Deletes the records that `edit` cuts off. */
  deleteCutOff(name: string): string
  /** What surrounds the first load of a resource's table, while nobody misses its index. */
  firstLoad(resource: Resource): { readonly before: string[]; readonly after: string[] }
  /** How companies that rows name get their names and are made. */
  readonly companies: CompanyStatements
}
