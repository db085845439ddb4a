// A limit of file sizes (`ulimit -f`) that an import hits midway.

import { gzipSync } from 'node:zlib'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCase, writingCases } from './cases.ts'
import { fileStores } from './file-stores.ts'
import { judge } from './judge.ts'
import { type Campaign, spread } from './outcome.ts'
import { faultOfRefusal, runDossier } from './processes.ts'
import { companiesCsv } from './extracts.ts'

const blockBytes = 512

/** Imports under limits from zero to more than enough. */
export const limitFileSize: Campaign = async function* (ground) {
  for (const name of ground.isShort ? writingCases.slice(1, 2) : writingCases) {
    const tried = await makeCase(ground, name, fileStores)
    const enough = Math.ceil((tried.course.bytes * 1.2) / blockBytes)
    for (const blocks of spread(0, enough, ground.isShort ? 3 : 16)) {
      await tried.reset()
      const ended = await runDossier(tried.args(tried.db), { wrapper: limitTo(blocks) })
      yield await judge(tried, `files of at most ${blocks} blocks`, ended)
    }
  }
  // A compressed CSV is decompressed into the folder for temporary files.
  const file = join(ground.folder, 'companies.csv.gz')
  const text = companiesCsv('first', ground.rows)
  writeFileSync(file, gzipSync(text))
  const args = ['import', 'companies', file, '--dry-run', '--db', join(ground.folder, 'none.db')]
  const ended = await runDossier(args, {
    wrapper: limitTo(Math.floor(text.length / 2 / blockBytes)),
  })
  yield {
    what: 'companies.csv.gz: files of at most half its size',
    found: `exit code ${String(ended.code)}; ${ended.err.trimEnd()}`,
    fault: faultOfRefusal(ended),
  }
}

/** A wrapper that limits the size of files, in blocks of 512 bytes. */
export function limitTo(blocks: number): string[] {
  return ['sh', '-c', 'ulimit -f "$0"; exec "$@"', String(blocks)]
}
