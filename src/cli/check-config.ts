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
    const faults = [...input.found.faults, ...portFaults(input)]
    print(input, context, asJson(input, faults), asTable(input))
    context.stderr.writeLines(...faults.map((fault) => `dossier: ${fault}`))
    return Promise.resolve(faults.length === 0 ? 0 : 2)
  },
}

/** A server would notice when it listens; other commands start none. */
function portFaults({ found }: Input): string[] {
  const valueOf = (name: SettingName) => found.resolved.find(({ key }) => key === name)?.value ?? ''
  const port = valueOf('metricsPort')
  const hosts = [valueOf('host'), valueOf('metricsHost')]
  const isOne = hosts[0] === hosts[1] || hosts.includes('0.0.0.0') || hosts.includes('::')
  if (port !== valueOf('port') || port === '0' || !isOne) return []
  return [`--metrics-port is ${JSON.stringify(port)}, which is --port; choose another`]
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

function asJson({ found }: Input, faults: readonly string[]) {
  const shown = found.resolved.map(({ setting, value, origin, fault }) => ({
    setting: setting.name,
    variable: variableOf(setting),
    value: withoutPasswords(value),
    from: origin,
    fault: fault ?? null,
  }))
  return { settings: shown, faults }
}
