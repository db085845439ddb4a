// What fields of a resource mean together, beyond what each field means. Plain types,
// which browsers' code reads too.

/** The parts of a change, and the fields that hold them. */
export interface ChangeFields<Name extends string = string> {
  readonly jurisdiction: Name
  readonly identifier: Name
  readonly date: Name
  readonly attr: Name
  readonly before: Name
  readonly after: Name
}

/** The part of a record that counts as its company's history. */
export interface HistoryTrait<Name extends string = string> {
  /** The name of the attribute that changes. */
  readonly attr: string
  /** The fields that make up its value, as text joined by commas. */
  readonly fields: readonly Name[]
  /** The field by which a removed and an added record count as one that changed. */
  readonly sameBy: Name
}

/** The fields with the first and the last day of a record; null is unknown, or no end. */
export interface PeriodTrait<Name extends string = string> {
  readonly from: Name
  readonly to: Name
}

/** How the explorer draws a listing, and the fields that it needs for it. */
export type PictureTrait<Name extends string = string> =
  /** Each change as a mark on the lane of its attribute; needs `changeFields`. */
  | { readonly kind: 'timeline' }
  /** Each record as a bar over its period; needs `period`. */
  | { readonly kind: 'periods'; readonly label: Name; readonly detail: Name }
  /** How many records there are of each year and value. */
  | { readonly kind: 'years'; readonly moment: Name; readonly by: Name }
