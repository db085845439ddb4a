// Extracts are usually dated by day, so that their timestamps are shown as days.

/** A timestamp in wire form, without its time if that is midnight. */
export function shortMoment(moment: string): string {
  return moment.replace('T00:00:00Z', '')
}
