// A registry of a few records, served in this process for one test.

import type { TestContext } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import type { Page } from 'playwright-core'
import { listenOn, makeApp, type TestApp } from '../support/make-app.ts'
import type { CompanyRecords, KeyOptions } from '../support/temp-store.ts'
import { tabsOf, visit, type VisitOptions } from './browser.ts'

type Row = Readonly<Record<string, unknown>>

export interface OwnRegistry extends TestApp {
  readonly port: number
  /** Opens a view, with the key or another one, in a tab of its own. */
  readonly visit: (view: string, options?: VisitOptions & { key?: string }) => Promise<Page>
  /** As `visit`, with a new key. */
  readonly visitWith: (issued: KeyOptions, view: string, options?: VisitOptions) => Promise<Page>
  /** Imports rows as a version of its own; a source's former extract is replaced. */
  readonly load: (target: string, rows: readonly Row[], source?: string) => Promise<void>
}

/** Serves a registry of some records. */
export async function serveRegistry(
  t: TestContext,
  records: readonly CompanyRecords[] = [],
): Promise<OwnRegistry> {
  tabsOf(t)
  const made = await makeApp(t, { records })
  const port = await listenOn(made)
  const visitView: OwnRegistry['visit'] = (view, { key = made.key, ...options } = {}) =>
    visit(t, `http://127.0.0.1:${port}/#key=${key}${view}`, options)
  let day = 0
  return {
    ...made,
    port,
    visit: visitView,
    visitWith: async (issued, view, options) =>
      visitView(view, { ...options, key: await made.store.issueKey(issued) }),
    async load(target, rows, source = 'gov') {
      day += 1
      await made.store.importRows(target, rows, {
        source,
        isSnapshot: true,
        asOf: `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`,
        ...(target === 'companies' ? { recordIn: changeResource } : {}),
      })
    },
  }
}
