// The faults that a verification finds.

/** How many faults of each kind are reported individually. */
export const faultsShownMax = 20

/** Reports a fault: its kind, and a sentence. */
export type Report = (kind: string, sentence: string) => void

/** Collects faults, of each kind the first ones. */
export function collectFaults() {
  const kinds = new Map<string, { readonly shown: string[]; count: number }>()
  return {
    report(kind: string, sentence: string): void {
      const known = kinds.get(kind) ?? { shown: [], count: 0 }
      kinds.set(kind, known)
      known.count += 1
      if (known.count <= faultsShownMax) known.shown.push(sentence)
    },
    shown(): string[] {
      return [...kinds].flatMap(([kind, { shown, count }]) =>
        count > shown.length ? [...shown, `${kind}: … and ${count - shown.length} more`] : shown,
      )
    },
  }
}
