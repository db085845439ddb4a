// What Node's test runner prints about tests that fail, as its spec reporter does.

/** The last section of a run's output: where each failing test is, and why it fails. */
export function failuresIn(printed: string): string {
  const at = printed.lastIndexOf('\n✖ failing tests:\n')
  return at < 0 ? '' : printed.slice(at + 1).trimEnd()
}

/** The files of the failing tests, each once. */
export function failedFilesIn(printed: string): string[] {
  const found = failuresIn(printed).matchAll(/^test at (.+?):\d+:\d+$/gm)
  return [...new Set([...found].map(([, file = '']) => file))]
}
