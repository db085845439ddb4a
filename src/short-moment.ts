// Moments as a day where they are one: extracts are dated by their day, and told by it.

/** A moment in the form of the wire, short where it is the first of its day. */
export function shortMoment(moment: string): string {
  return moment.replace('T00:00:00Z', '')
}
