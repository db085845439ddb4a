// The documents say what the code does, and name nothing that is not there.

import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { guides, regenerate } from '../scripts/generate-docs.ts'
import { commands } from '../src/cli/command-line.ts'
import { settings, variableOf } from '../src/config.ts'
import { resources } from '../src/resources/index.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...globSync(['docs/**/*.md', 'bench/*.md'], { cwd: root }),
]

for (const guide of guides) {
  test(`${guide}: its generated parts are what the code says`, () => {
    assert.equal(read(guide), regenerate(read(guide)), 'run: npm run generate')
  })
}

test('every setting is in the operator’s guide', () => {
  for (const setting of Object.values(settings)) {
    assert.ok(read('docs/operating.md').includes(`\`--${setting.name}\``), setting.name)
    assert.ok(read('docs/operating.md').includes(variableOf(setting)), variableOf(setting))
  }
})

test('every command is in the guides, with every option of its own', () => {
  const text = documents.map(read).join('\n')
  for (const command of commands) {
    assert.match(text, new RegExp(`dossier ${command.name}\\b`), command.name)
    for (const { name } of command.options) assert.ok(text.includes(`--${name}`), `--${name}`)
  }
})

test('every resource and field is in the client’s guide', () => {
  const text = read('docs/client.md')
  for (const { name, fields } of resources) {
    const section = text.split(`### ${name}\n`)[1]?.split('\n### ')[0] ?? ''
    for (const field of Object.keys(fields)) assert.ok(section.includes(`\`${field}\``), field)
  }
})

test('the README’s commands are scripts of the package', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const named = [...read('README.md').matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name]) => name)
  for (const name of named) assert.ok(name === 'ci' || scripts[String(name)], String(name))
})

test('every link between the documents leads to something', () => {
  for (const document of documents) {
    for (const [, target] of read(document).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      const path = join(root, dirname(document), String(target))
      assert.ok(existsSync(path), `${document}: ${String(target)}`)
    }
  }
})

test('ARCHITECTURE.md names every folder of src/ and every dependency', () => {
  const text = read('ARCHITECTURE.md')
  for (const entry of readdirSync(join(root, 'src'), { withFileTypes: true })) {
    if (entry.isDirectory()) assert.ok(text.includes(`src/${entry.name}/`), entry.name)
  }
  const dependencies = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  for (const group of ['dependencies', 'optionalDependencies']) {
    for (const name of Object.keys(dependencies[group] ?? {})) {
      assert.ok(text.includes(`\`${name}\``), name)
    }
  }
})
