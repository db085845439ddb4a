// Runs command lines of `dossier` one after the other in this process: `runAllDossier` starts it, as
// another user, say.

import { runCommand } from './run-command.ts'
import type { Run, Words } from './run-dossier.ts'

const [cwd = '', commands = ''] = process.argv.slice(2)
const runs: Run[] = []
for (const words of JSON.parse(commands) as Words[]) runs.push(await runCommand(cwd, words))
process.stdout.write(JSON.stringify(runs))
