// The results of measures, with their targets.

/** A result: its values over the rounds, and its target. */
export interface Figure {
  readonly what: string
  readonly unit: string
  readonly values: readonly number[]
  readonly reach: { readonly least: number } | { readonly most: number }
}

/** Measures something; `scale` shrinks its data for a quick run. */
export type Measure = (scale: number) => Figure[] | Promise<Figure[]>

export function figure(
  what: string,
  unit: string,
  values: readonly number[],
  reach: Figure['reach'],
): Figure {
  return { what, unit, values, reach }
}

/** The median of some values; the mean of the middle two if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] =
    sorted.length % 2 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1)
  return (low + high) / 2
}
