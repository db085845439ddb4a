// Finds companies whose names differ from a mistyped one by a typo. It looks up every likely typo,
// which takes the same time for any size of registry; comparing with all names would not.

import type { StoreInspector } from '../../store/inspecting.ts'

const identifierLengthMax = 24
const shownMax = 3
const digits = '0123456789'
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The names of the first few companies that are one typo away from a name. */
export async function nearCompanies(
  inspector: Pick<StoreInspector, 'findNames'>,
  jurisdiction: string,
  identifier: string,
): Promise<string[]> {
  if (identifier.length > identifierLengthMax) return []
  const area = jurisdiction.toUpperCase()
  const others = new Set([identifier, ...likelyTypos(identifier.toUpperCase())])
  const names = [...others].map((other) => [area, other] as const)
  const near = await inspector.findNames([...names, [identifier, jurisdiction]], shownMax)
  return near.map((name) => name.join(' '))
}

/** Leading zeros lost or added; two characters swapped; one too many, wrong or missing. */
function* likelyTypos(text: string): Generator<string> {
  yield text
  const bare = text.replace(/^0+/, '')
  for (let length = bare.length; length <= 12; length++) yield bare.padStart(length, '0')
  // With so few characters, almost any other name would be near.
  if (text.length < 3) return
  const alphabet = /[A-Z]/.test(text) ? digits + letters : digits
  for (let at = 0; at <= text.length; at++) {
    const [before, one, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)]
    yield before + after.slice(0, 1) + one + after.slice(1)
    yield before + after
    for (const other of alphabet) {
      yield before + other + after
      yield before + other + one + after
    }
  }
}
