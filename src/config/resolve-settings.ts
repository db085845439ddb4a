// The values of all settings: the command's option, else the environment variable, or the default.

import { sslModeFault } from './setting-kinds.ts'
import { isStoreFile } from './store-file.ts'
import { nearest } from '../text/nearest.ts'
import { withoutPasswords } from '../text/redact.ts'
import {
  type Setting,
  type SettingName,
  type Settings,
  type SettingTexts,
  settings,
  UsageError,
  variableOf,
  variablePrefix,
} from './settings.ts'

/** Where a value comes from. */
type Origin = 'option' | 'environment' | 'default'

/** All settings in the order of the table, and all their faults. */
export type ResolvedSettings = Readonly<ReturnType<typeof resolveSettings>>

/**
 * Resolves every setting: the option, else the environment variable, else the default.
 *
 * @param options the command's options, by name.
 * @param defaults the defaults that differ from the table's.
 * @returns `faults` lists invalid values, and variables with our prefix that are not settings.
 */
export function resolveSettings(
  options: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Partial<SettingTexts> = {},
) {
  const keys = Object.keys(settings) as SettingName[]
  const resolved = keys.map((key) => resolve(key, options, environment, defaults))
  const valueOf = (name: SettingName) => resolved.find(({ key }) => key === name)?.value ?? ''
  const db = valueOf('db')
  const conflicts = [
    sslModeFault(db, environment['PGSSLMODE']),
    storeFault(db, '--usage-db', valueOf('usageDb'), 'another file, auto or none'),
    storeFault(db, '--withheld', valueOf('withheld'), 'another file, or auto'),
  ]
  const found = [...resolved.map(({ fault }) => fault), ...conflicts]
  const faults = found.filter((fault) => fault !== undefined)
  return { resolved, faults: [...unknownVariables(environment), ...faults] }
}

/** The fault of an option that names a file of the store as the file for something else. */
function storeFault(db: string, option: string, file: string, others: string) {
  const isWord = file === 'auto' || file === 'none'
  if (isWord || !isStoreFile(db, file)) return undefined
  return `${option} is ${file}, which is a file of the store; name ${others}`
}

/** @throws UsageError that lists every fault. */
export function settingsOf({ resolved, faults }: ResolvedSettings): Settings {
  if (faults.length > 0) throw new UsageError(...faults)
  const values = resolved.map(({ key, setting, value }) => [key, setting.parse(value)])
  return Object.fromEntries(values) as Settings
}

function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.values(settings).map(variableOf)
  return (
    Object.keys(environment)
      .filter((name) => name.startsWith(variablePrefix) && !known.includes(name))
      // Variables of the test suite are not settings.
      .filter((name) => !name.startsWith(`${variablePrefix}TEST_`))
      .filter((name) => !isOfKubernetes(name, environment[name]))
      .map((name) => {
        const near = nearest(
          name.slice(variablePrefix.length),
          known.map((variable) => variable.slice(variablePrefix.length)),
        )
        return `${name} is not a setting${near ? `; did you mean ${variablePrefix}${near}?` : ''}`
      })
  )
}

/**
 * Whether Kubernetes set a variable: it gives each container the address of every Service in its
 * namespace, such as `DOSSIER_SERVICE_HOST` and `DOSSIER_PORT=tcp://10.0.0.1:80` for one named
 * `dossier`, and `DOSSIER_REDIS_…` for `dossier-redis`.
 */
function isOfKubernetes(name: string, value = ''): boolean {
  return (
    /_SERVICE_(?:HOST|PORT)$/.test(name) ||
    name.includes('_SERVICE_PORT_') ||
    /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\/\S+:\d+$/.test(value))
  )
}

/** A setting with its value, valid or not, and what is wrong with that, as a line for operators. */
function resolve(
  key: SettingName,
  options: Readonly<Record<string, string | undefined>>,
  environment: Readonly<Record<string, string | undefined>>,
  defaults: Partial<SettingTexts>,
) {
  const setting: Setting = settings[key]
  const variable = variableOf(setting)
  const option = options[setting.name]
  const given = environment[variable]
  const inEnvironment = isOfKubernetes(variable, given) ? undefined : given
  const [value, origin]: [string, Origin] =
    option !== undefined
      ? [option, 'option']
      : inEnvironment !== undefined
        ? [inEnvironment, 'environment']
        : [defaults[key] ?? setting.default, 'default']
  const wrong = setting.fault(value)
  const where = origin === 'option' ? `--${setting.name}` : variable
  const fault = wrong && `${where} is ${JSON.stringify(withoutPasswords(value))}; it ${wrong}`
  return { key, setting, value, origin, fault }
}
