// Labels of pictures: measured as they are drawn, cut to fit, and never overlapping.

/** The size of the letters in pictures, in pixels. */
const letterSize = 12
/** The minimum distance between two labels. */
const gap = 8

let context: CanvasRenderingContext2D | null | undefined

/** The width of a text in a picture, in pixels. */
function textWidth(text: string): number {
  if (context === undefined) {
    context = document.createElement('canvas').getContext('2d')
    const family = getComputedStyle(document.documentElement).fontFamily
    if (context !== null) context.font = `${letterSize}px ${family}`
  }
  return context?.measureText(text).width ?? text.length * letterSize * 0.65
}

/** Text that fits into a width. */
export function fitText(text: string, width: number): string {
  if (textWidth(text) <= width) return text
  const letters = Array.from(text)
  let [least, most] = [1, letters.length]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (textWidth(`${letters.slice(0, middle).join('')}…`) <= width) least = middle
    else most = middle - 1
  }
  return `${letters.slice(0, least).join('')}…`
}

interface PlacedLabel {
  readonly label: string
  /** Its middle. */
  readonly x: number
}

/** The labels that do not overlap those before them, each within the width of the picture. */
export function placeLabels(labels: readonly PlacedLabel[], width: number): PlacedLabel[] {
  const placed: PlacedLabel[] = []
  let taken = -Infinity
  for (const { label, x } of labels) {
    const half = textWidth(label) / 2
    const middle = Math.max(half, Math.min(x, width - half - 1))
    if (middle - half < taken) continue
    placed.push({ label, x: middle })
    taken = middle + half + gap
  }
  return placed
}
