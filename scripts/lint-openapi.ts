// Lints the OpenAPI document with Spectral, using its own rules and OWASP's, and with Redocly.
//
// The two consist of hundreds of packages, so they are not dependencies of this project. They are
// installed into a temporary folder, which needs the npm registry.

import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const linters = [
  '@stoplight/spectral-cli@6.16.3',
  '@stoplight/spectral-owasp-ruleset@2.0.1',
  // The rule set needs it but does not declare it.
  'tslib@2.8.1',
  '@redocly/cli@2.77.0',
]
const document = 'openapi.json'
const ruleset = 'openapi.spectral.yaml'

const cwd = mkdtempSync(join(tmpdir(), 'dossier-lint-'))
process.once('exit', () => rmSync(cwd, { recursive: true, force: true }))

function run(command: string, ...args: string[]): boolean {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env })
  return status === 0
}

writeFileSync(join(cwd, 'package.json'), '{ "private": true }')
copyFileSync(join(import.meta.dirname, '../docs', document), join(cwd, document))
copyFileSync(join(import.meta.dirname, ruleset), join(cwd, ruleset))
const isInstalled = run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', ...linters)
const verdicts = isInstalled && [
  run('node_modules/.bin/spectral', 'lint', document, '--ruleset', ruleset, '-F', 'warn'),
  run('node_modules/.bin/redocly', 'lint', document),
]
process.exitCode = verdicts && verdicts.every(Boolean) ? 0 : 1
