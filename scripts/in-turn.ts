// The output of parts that run side by side, in one piece each.

interface Part {
  write(text: string): void
  end(): void
}

/**
 * Prints at once what the first part that has not ended writes, and keeps what the others write
 * until it is their turn.
 */
export function createTurns(print: (text: string) => void): () => Part {
  const waiting: { kept: string[]; hasEnded: boolean }[] = []

  function pass(): void {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      for (const text of first.kept.splice(0)) print(text)
      if (!first.hasEnded) return
      waiting.shift()
    }
  }

  return () => {
    const part = { kept: [] as string[], hasEnded: false }
    waiting.push(part)
    return {
      write(text) {
        part.kept.push(text)
        pass()
      },
      end() {
        part.hasEnded = true
        pass()
      },
    }
  }
}
