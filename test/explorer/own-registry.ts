// A registry of a few records, served in this process for one test.

import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { changeResource } from '../../src/resources/index.ts'
import { importRows } from '../support/import-rows.ts'
import { makeApp, type TestApp } from '../support/make-app.ts'
import { tabsOf } from './browser.ts'

type Row = Readonly<Record<string, unknown>>

export interface OwnRegistry extends TestApp {
  /** Without a path. */
  readonly url: string
  /** The address of a view, with the key. */
  readonly address: (path: string, key?: string) => string
  /** Imports rows as a version of its own; a source's former extract is replaced. */
  readonly load: (target: string, rows: readonly Row[], source?: string) => Promise<void>
}

/** Serves an empty registry. */
export async function serveRegistry(t: TestContext): Promise<OwnRegistry> {
  tabsOf(t)
  const made = await makeApp(t)
  const { app, store, key } = made
  await app.listen({ port: 0, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const folder = join(store.folder, 'rows')
  let day = 0
  return {
    ...made,
    url,
    address: (path, used = key) => `${url}/#key=${used}${path}`,
    async load(target, rows, source = 'gov') {
      day += 1
      await importRows(folder, target, rows, {
        at: store.db,
        source,
        isSnapshot: true,
        asOf: `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`,
        ...(target === 'companies' ? { recordIn: changeResource } : {}),
      })
    },
  }
}
