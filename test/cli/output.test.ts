// Commands whose output cannot be written.

import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { importRows, makeFolder, makePlace, queryValue } from '../support/import-rows.ts'
import { checkExit, redirected, runDossier, startDossier } from '../support/run-dossier.ts'

const cannotBeWritten = /^dossier: cannot write to standard output \([^\n]+\)[^\n]*\n$/

describe('an output that cannot be written', { concurrency: 2 }, () => {
  for (const redirection of ['>/dev/full', '>&-']) {
    test(`is reported in one line with exit code 1: ${redirection}`, async (t) => {
      if (!existsSync('/dev/full')) return t.skip('this system has no /dev/full')
      const { folder, db } = makePlace(t)
      await importRows(db, 'rights', [{ id: 1, company_id: 7 }])
      const via = redirected(redirection)
      for (const args of [['imports'], ['--help']]) {
        checkExit(await runDossier(folder, args, { via }), 1, cannotBeWritten)
      }
      const input = '{"id":2,"company_id":7}\n'
      const imported = await runDossier(folder, 'import rights -', { via, input })
      checkExit(imported, 1, /; any changes that the command made are kept\n$/)
      assert.equal(queryValue(db, 'select count(*) from rights_view'), 2)
      const wrong = await runDossier(folder, ['imprt'], { via })
      checkExit(wrong, 2, /^dossier: imprt is not a command[^\n]+\n$/)
    })
  }

  test('is reported if a file takes only part of it', async (t) => {
    const folder = makeFolder(t)
    const via = ['sh', '-c', 'ulimit -f 1; exec "$@" >help.txt', 'sh']
    const { code, err } = await runDossier(folder, 'import --help', { via })
    assert.ok(statSync(join(folder, 'help.txt')).size > 0, 'a part was written')
    assert.equal(code, 1)
    assert.match(err, cannotBeWritten)
  })

  test('is not an error if its reader has exited', async (t) => {
    const folder = makeFolder(t)
    await importRows(join(folder, 'dossier.db'), 'rights', [{ id: 1, company_id: 7 }])
    const { child, ended } = startDossier(t, folder, ['imports'])
    child.stdout.destroy()
    assert.deepEqual(await ended, { code: 0, out: '', err: '' })
  })
})
