// Nodes of Citus that are lost or added: the campaign `citus-nodes` of `torture/` in a short form.
//
// It starts nodes of its own wherever a PostgreSQL with Citus is installed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperatorError } from '../../src/config/operator-error.ts'
import { explainStoreError } from '../../src/store/open-store.ts'
import { loseCitusNodes } from '../../torture/citus-nodes.ts'
import { makeFolder } from '../support/import-rows.ts'
import { runShort } from '../support/short-campaign.ts'

test('a lost node leaves the state before or after; only its companies are refused', (t) =>
  runShort(t, loseCitusNodes, { folder: makeFolder(t), kills: 1, rows: 0 }))

// As the coordinator gave them when one of its nodes was killed.
const lost = [
  'server closed the connection unexpectedly\n\tThis probably means the server terminated',
  'SSL connection has been closed unexpectedly\ninvalid socket',
  'SSL SYSCALL error: EOF detected\ninvalid socket',
  'connection to the remote node dossier@10.0.0.2:5432 failed with the following error: refused',
]

for (const message of lost) {
  const [line = ''] = message.split('\n')
  test(`an error of a lost node says so, and what to do: ${line}`, () => {
    const error = Object.assign(new Error(message), { severity: 'ERROR', code: 'XX000' })
    const told = explainStoreError('postgres://dossier@10.0.0.1/registry', error)
    assert.ok(told instanceof OperatorError)
    const words = `a node of Citus was lost (${line}); nothing was changed, start it and try again`
    assert.equal(told.message, `postgres://dossier@10.0.0.1/registry: ${words}`)
  })
}
