// `dossier check-config`: shows every setting and its origin, before anything uses them.

import { type SettingName, settings, variableOf } from '../config/settings.ts'
import { withoutPasswords } from '../text/redact.ts'
import { type Command, type Input, print } from './command.ts'
import { tableLines } from './table.ts'

export const checkConfig: Command = {
  summary: 'show every setting, its value and where it comes from',
  synopsis: ['check-config [OPTIONS]'],
  details: `
Prints each setting with its value and its origin: option, environment or default. Passwords are
shown as ***. It takes the settings of all commands as options, and opens and starts nothing.

If a value is invalid, or a variable that begins with DOSSIER_ is not a setting, it reports every
error on standard error and exits with code 2.

  dossier check-config --port 80
  dossier check-config --json`,
  options: { '--json': 'print the settings and errors as JSON' },
  takesWords: false,
  settings: Object.keys(settings) as SettingName[],
  takesBadSettings: true,
  run(input, context) {
    const { found } = input
    print(input, context, asJson(input), asTable(input))
    context.stderr.writeLines(...found.faults.map((fault) => `dossier: ${fault}`))
    return Promise.resolve(found.faults.length === 0 ? 0 : 2)
  },
}

function asTable({ found }: Input): string[] {
  const rows = found.resolved.map(({ setting, value, origin, fault }) => [
    `--${setting.name}`,
    variableOf(setting),
    withoutPasswords(value),
    fault === undefined ? origin : `${origin}, BAD`,
  ])
  return tableLines([['SETTING', 'VARIABLE', 'VALUE', 'FROM'], ...rows])
}

function asJson({ found }: Input) {
  const shown = found.resolved.map(({ setting, value, origin, fault }) => ({
    setting: setting.name,
    variable: variableOf(setting),
    value: withoutPasswords(value),
    from: origin,
    fault: fault ?? null,
  }))
  return { settings: shown, faults: found.faults }
}
