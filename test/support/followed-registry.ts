// A registry that a client follows, for tests of `/api/v1/changes`.

import assert from 'node:assert/strict'
import { after } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { scopeNames } from '../../src/cli/keys.ts'
import { makeApp } from './make-app.ts'

export const path = '/api/v1/changes'

export interface Change {
  readonly resource: string
  readonly company_id: number
  readonly id: number
  readonly version: number
  readonly change: string
  readonly record: { readonly id: number; readonly name?: string } | null
}

export interface Page {
  readonly changes: readonly Change[]
  readonly after: string
  readonly until: string
  readonly next: string | null
}

/** An application, a key that may follow, and imports into the store. */
export async function makeRegistry(options: Parameters<typeof makeApp>[1] = {}) {
  const made = await makeApp({ after }, options)
  const { store, ask } = made
  const key = await store.issueKey({ name: 'follower', scopes: scopeNames })
  const follow = (query: string) => ask(path + query, { key })
  return {
    ...made,
    key,
    follow,
    page: async (query: string) => {
      const answer = await follow(query)
      assert.equal(answer.status, 200, answer.text)
      return JSON.parse(answer.text) as Page
    },
    put: async (target: string, rows: readonly object[], isSnapshot = false) => {
      await store.importRows(target, rows, { isSnapshot })
      // A reader asks once in a turn of the event loop whether anything was committed.
      await nextTurn()
    },
  }
}

/** A registry of one right, and the cursor up to which it has been followed. */
export async function makeFollowed(options?: Parameters<typeof makeApp>[1]) {
  const made = await makeRegistry(options)
  await made.put('rights', [right(1, 'a')])
  return { ...made, until: (await made.page('?after=0')).until }
}

/** A row of an import. */
export const right = (id: number, name: string, company = 1) => ({ id, company_id: company, name })
/** Changes in words: listing, company, id, what happened, version. */
export const told = ({ changes }: Page) =>
  changes.map(({ resource, company_id: company, id, version, change }) => {
    return `${resource} ${company} ${id} ${change} ${version}`
  })
