/**
 * A whole number with commas between thousands. `toLocaleString` would load tables that take
 * longer (20 ms) than all the rest of a short command.
 */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}
