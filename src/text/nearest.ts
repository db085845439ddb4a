// "Did you mean …?" for columns, parameters, options and settings.

/**
 * The known word that a mistyped one most likely means: the only word that begins with it, else the
 * nearest one, at most half its letters away, or one of four; undefined if none is near.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const given = word.slice(0, 64).toLowerCase()
  const words = [...known]
  const begun = words.filter((candidate) => candidate.toLowerCase().startsWith(given))
  if (begun.length === 1 && given.length >= 3) return begun[0]
  let best: string | undefined
  // Two edits could turn a word of four letters into almost any other: name into page.
  let bestDistance = (given.length <= 4 ? 1 : Math.floor(given.length / 2)) + 1
  for (const candidate of words) {
    const distance = editDistance(given, candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/**
 * Advice on a word that is not known: the nearest known one.
 *
 * @param otherwise the advice if none is near; by default, all of them.
 */
export function advise(
  word: string | undefined,
  known: readonly string[],
  otherwise = `choose from ${known.join(', ')}`,
): string {
  const near = word === undefined ? undefined : nearest(word, known)
  return near === undefined ? otherwise : `did you mean ${near}?`
}

/** Whether two words differ by so little that one is probably the other, mistyped. */
export function isMisspelling(a: string, b: string): boolean {
  const letters = Math.min(a.length, b.length)
  if (letters < 3 || a.length > 64 || b.length > 64) return false
  return editDistance(a.toLowerCase(), b.toLowerCase()) <= (letters < 8 ? 1 : 2)
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length] ?? 0
}
