// Every campaign by name, in the order in which they run.

import { backUpMeanwhile } from './backups.ts'
import { failCalls, killAtCalls, killRestores } from './calls.ts'
import { plantCanaries, plantCanariesInPostgres } from './canaries.ts'
import { loseCitusNodes } from './citus-nodes.ts'
import { disturbExports } from './exporting.ts'
import { fillDisk } from './full-disk.ts'
import { killImports } from './kills.ts'
import type { Campaign } from './outcome.ts'
import { crashPostgres, killPostgresImports } from './postgres-kills.ts'
import { takePostgresTurns } from './postgres-turns.ts'
import { readMeanwhile } from './readers.ts'
import { limitFileSize } from './size-limit.ts'
import { takeTurns } from './turns.ts'
import { moveWithheld, moveWithheldInPostgres } from './withheld-moves.ts'
import { disturbWithholding } from './withholding.ts'

/** The campaigns for each kind of store; those on Citus bring their own. */
export const campaignsOf = {
  sqlite: {
    kills: killImports,
    'kills-at-calls': killAtCalls,
    'failing-calls': failCalls,
    'size-limit': limitFileSize,
    'full-disk': fillDisk,
    readers: readMeanwhile,
    turns: takeTurns,
    backups: backUpMeanwhile,
    restore: killRestores,
    withholding: disturbWithholding,
    'withheld-moves': moveWithheld,
    canaries: plantCanaries,
    exporting: disturbExports,
  },
  postgres: {
    'postgres-kills': killPostgresImports,
    'postgres-crashes': crashPostgres,
    'postgres-turns': takePostgresTurns,
    'postgres-withheld-moves': moveWithheldInPostgres,
    'postgres-canaries': plantCanariesInPostgres,
  },
  citus: { 'citus-nodes': loseCitusNodes },
} as const satisfies Record<string, Readonly<Record<string, Campaign>>>

export const campaigns: Readonly<Record<string, Campaign>> = {
  ...campaignsOf.sqlite,
  ...campaignsOf.postgres,
  ...campaignsOf.citus,
}
