// What `dossier export` costs: its memory beside stores of two sizes, and its processor time beside
// that of the same bytes without a store.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { exportFormats } from '../src/store/exports/manifest.ts'
import { type Figure, figure } from './figures.ts'
import { dossier, folder, makeFile, makeStore, rightsOf } from './files.ts'
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
      const peakMb: number[] = []
      for (let n = 0; n < rounds; n += 1) peakMb.push((await exportOnce(db, format)).peakMb)
      const what = `export of ${records.toLocaleString('en')}, ${format}, memory`
      figures.push(figure(what, 'MB', peakMb, { most: 350 }))
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
  for (let n = 0; n < rounds; n += 1) {
    const ofBare = await run(bare)
    const ours = await exportOnce(db, 'ndjson.zst')
    cpu.push(ofBare.cpuSeconds / ours.cpuSeconds)
  }
  rmSync(bareFile, { force: true })
  return [figure('export as NDJSON, by processor time', '÷ bare', cpu, { least: 0.5 })]
}
