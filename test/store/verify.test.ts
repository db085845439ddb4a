// `dossier verify` finds faults in the contents of a store, and no other command copies damage.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeChangedRegistry } from '../support/changed-registry.ts'
import { makeFolder } from '../support/import-rows.ts'
import { runCommand } from '../support/run-command.ts'
import { checkExit } from '../support/run-dossier.ts'
import { storeFaults } from '../support/store-faults.ts'
import { keepStore, storeDigest } from '../support/store-state.ts'
import { checkSound, verifyStore } from '../support/verify-store.ts'

const folder = makeFolder({ after })
const db = await makeChangedRegistry(folder)
const restore = await keepStore(db)

for (const { title, make, told } of storeFaults) {
  test(`verify reports ${title} (F5)`, async () => {
    await make(db)
    assert.match((await verifyStore(db)).faults.join('\n'), told)
    await restore()
  })
}

test('verify reports nothing of the store without these faults (F5)', async () => {
  await checkSound(db)
})

const mismatch = 'segment \\d+ of company \\d+ does not match its checksum'

for (const [what, title, told] of [
  ['a damaged segment', 'match their checksum', mismatch],
  ['a missing segment', 'is missing$', 'segment \\d+ of company \\d+ is missing'],
  ['a segment without texts', 'it has no texts$', mismatch],
  ['a cut segment', 'an unknown format$', `an index of records \\S.*|${mismatch}`],
  ['a cut directory', 'cannot be read$', 'a directory of segments cannot be read'],
] as const) {
  test(`nothing is made of ${what} (F5)`, async () => {
    const right = { id: 2, company_jurisdiction: 'GB', company_identifier: '1', name: 'z' }
    writeFileSync(join(folder, 'more.ndjson'), JSON.stringify(right))
    await storeFaults.find((fault) => fault.title.includes(title))?.make(db)
    const before = await storeDigest(db)
    const says = new RegExp(`: is damaged \\((?:${told})\\); restore`)
    for (const command of ['import rights more.ndjson', 'export copy']) {
      checkExit(await runCommand(folder, `${command} --db ${db}`), 1, says)
    }
    assert.equal(await storeDigest(db), before)
    await restore()
  })
}
