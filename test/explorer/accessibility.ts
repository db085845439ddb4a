// axe-core on a page, as it is.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Checks that axe finds nothing: WCAG 2.2 A and AA, and good practice. */
export async function checkAccessible(page: Page, what: string): Promise<void> {
  if ((await page.evaluate('"axe" in globalThis')) !== true) await page.evaluate(source)
  const run = 'axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations)'
  const violations = await page.evaluate<readonly Violation[]>(run)
  const told = violations.map(({ id, help, nodes }) => {
    const [first] = nodes
    return `${id}: ${help}\n${first?.html ?? ''}\n${first?.failureSummary ?? ''}`
  })
  assert.deepEqual(told, [], what)
}
