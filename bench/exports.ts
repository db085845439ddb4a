// What `dossier export` costs: its memory beside stores of two sizes, and its speed beside the same
// bytes without a store.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { exportFormats } from '../src/store/exports/manifest.ts'
import { dossier, folder, makeFile, makeStore, rightsOf } from './files.ts'
import type { Figure } from './measures.ts'
import { type Cost, run } from './processes.ts'

const rounds = 3
const copies = join(folder, 'copies')
const bareFile = join(folder, 'bare.zst')

/** Exports stores of 140 and of 460 MB in each format, and one of them beside a bare program. */
export async function exportCopies(scale: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const records of [300_000 * scale, 1e6 * scale]) {
    const { db } = makeStore(rightsOf(records, 100))
    for (const format of exportFormats) {
      const costs: Cost[] = []
      for (let n = 0; n < rounds; n += 1) costs.push(await exportOnce(db, format))
      const what = `export of ${records.toLocaleString('en')}, ${format}`
      const [peak, own] = [costs.map((one) => one.peakMb), costs.map((one) => one.ownMb)]
      figures.push(
        { what: `${what}, memory`, unit: 'MB', values: peak, reach: { most: 350 } },
        { what: `${what}, memory without files`, unit: 'MB', values: own },
      )
    }
  }
  return [...figures, ...(await compareSpeed(1e6 * scale))]
}

async function exportOnce(db: string, format: string): Promise<Cost> {
  rmSync(copies, { recursive: true, force: true })
  try {
    return await run([dossier, 'export', copies, '--db', db, '--format', format])
  } finally {
    rmSync(copies, { recursive: true, force: true })
  }
}

/** The records as they were imported have the bytes that an export writes. */
async function compareSpeed(records: number): Promise<Figure[]> {
  const shape = rightsOf(records, 100)
  const { db } = makeStore(shape)
  const file = makeFile(shape)
  const bare = [process.execPath, join(import.meta.dirname, 'bare-export.ts'), file, bareFile]
  const cpu: number[] = []
  const cat: number[] = []
  for (let n = 0; n < rounds; n += 1) {
    const ofBare = await run(bare)
    const ofCat = catSeconds(file)
    const ours = await exportOnce(db, 'ndjson.zst')
    cpu.push(ofBare.cpuSeconds / ours.cpuSeconds)
    cat.push(ofCat / ours.seconds)
  }
  rmSync(bareFile, { force: true })
  const what = 'export as NDJSON, by processor time'
  return [
    { what, unit: '÷ bare', values: cpu, reach: { least: 0.5 } },
    { what: 'export as NDJSON', unit: '÷ cat (time)', values: cat },
  ]
}

/** The time to copy a file uncompressed. */
function catSeconds(file: string): number {
  const startedAt = performance.now()
  spawnSync('sh', ['-c', 'cat "$0" > "$1"', file, bareFile])
  return (performance.now() - startedAt) / 1_000
}
