// Every campaign by its name, in the order in which they run.

import { backUpMeanwhile } from './backups.ts'
import { failCalls } from './failing-calls.ts'
import { fillDisk } from './full-disk.ts'
import { killAtCalls } from './kills-at-calls.ts'
import { killImports } from './kills.ts'
import type { Campaign } from './outcome.ts'
import { readMeanwhile } from './readers.ts'
import { limitFileSize } from './size-limit.ts'
import { takeTurns } from './turns.ts'

export const campaigns: Readonly<Record<string, Campaign>> = {
  kills: killImports,
  'kills-at-calls': killAtCalls,
  'failing-calls': failCalls,
  'size-limit': limitFileSize,
  'full-disk': fillDisk,
  readers: readMeanwhile,
  turns: takeTurns,
  backups: backUpMeanwhile,
}
