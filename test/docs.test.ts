// The documents match the code and name only existing things.

import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { guides, regenerate, wholes } from '../scripts/generate-docs.ts'
import { nameOf } from '../src/cli/command.ts'
import { commandNames, loadCommands } from '../src/cli/command-line.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = globSync(['*.md', 'docs/**/*.md', '{bench,fuzz,torture}/*.md'], { cwd: root })
const packageOf = () => JSON.parse(read('package.json')) as Record<string, Record<string, string>>

/** What is generated in each guide: all settings, options, fields, statuses and mappings. */
const generated = {
  'docs/mappings.md': ['mappings'],
  'docs/commands.md': ['commands', 'settings', 'accepted'],
  'docs/client.md': ['parameters', 'fields', 'errors', 'endpoints'],
}

for (const [guide, parts] of Object.entries(generated)) {
  test(`${guide}: its generated parts match the code`, () => {
    const text = read(guide)
    const told = [...text.matchAll(/<!-- generated: (\w+) -->/g)].map(([, part]) => part)
    assert.deepEqual(told, parts)
    assert.equal(text, regenerate(text), 'run: npm run generate')
  })
}

for (const [path, make] of Object.entries(wholes)) {
  test(`${path} is what the code says`, () => {
    // Not by assert.equal, which would print the whole document.
    assert.ok(read(path) === make(), 'run: npm run generate')
  })
}

test('the guides have at most 2,700, 4,000 and 4,800 words', () => {
  const wordsOf = (guide: string) => read(guide).split(/\s+/).length
  assert.ok(wordsOf('docs/loading.md') <= 2_700)
  assert.ok(wordsOf('docs/operating.md') <= 4_000)
  assert.ok(wordsOf('docs/client.md') <= 4_800)
})

test('the guide to loading begins with a month of a register', () => {
  const guide = read('docs/loading.md')
  assert.equal(/^## (.*)$/m.exec(guide)?.[1], 'A month of a register')
})

test('a marker that names no generated part is an error', () => {
  assert.throws(() => regenerate('<!-- generated: nothing --><!-- end -->'), /named nothing/)
})

test('every command that is listed can be loaded', async () => {
  const names = (await loadCommands()).map(nameOf)
  assert.deepEqual(names, commandNames)
})

test('every npm script in the documents is in the package', () => {
  const { scripts = {} } = packageOf()
  for (const document of ['README.md', 'CONTRIBUTING.md', 'docs/operating.md', ...guides]) {
    for (const [, name] of read(document).matchAll(/npm (?:run )?([a-z:]+)/g)) {
      assert.ok(name === 'ci' || scripts[String(name)], `${document}: npm ${String(name)}`)
    }
  }
})

test('every command in the documents is a command of the program', () => {
  for (const document of documents) {
    for (const [, name] of read(document).matchAll(/bin\/dossier ([a-z][a-z-]*)/g)) {
      assert.ok(commandNames.includes(String(name)), `${document}: dossier ${String(name)}`)
    }
  }
})

/** The anchors of the headings of a document, as on GitHub. */
function anchorsOf(text: string): string[] {
  const prose = text.replace(/^```[^]*?^```/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    String(heading)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every link between the documents leads to an existing file and heading', () => {
  for (const document of documents) {
    for (const [, target = '', anchor] of read(document).matchAll(
      /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g,
    )) {
      const path = target === '' ? document : join(dirname(document), target)
      assert.ok(existsSync(join(root, path)), `${document}: ${target}`)
      if (anchor === undefined) continue
      assert.ok(anchorsOf(read(path)).includes(anchor), `${document}: ${target}#${anchor}`)
    }
  }
})

test('ARCHITECTURE.md names every folder of src/ and every dependency', () => {
  const text = read('ARCHITECTURE.md')
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${join(entry.parentPath, entry.name).slice(root.length + 1)}/`)
  for (const folder of folders) assert.ok(text.includes(`\`${folder}\``), folder)
  const { dependencies, optionalDependencies, devDependencies } = packageOf()
  const groups = { ...dependencies, ...optionalDependencies, ...devDependencies }
  for (const name of Object.keys(groups)) assert.ok(text.includes(`\`${name}\``), name)
})

test('every install script of a dependency is disabled (I16)', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Readonly<Record<string, { hasInstallScript?: boolean }>>
  }
  const { allowScripts } = JSON.parse(read('package.json')) as {
    allowScripts: Readonly<Record<string, boolean>>
  }
  const scripted = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
  assert.deepEqual(
    Object.fromEntries(scripted.map((path) => [path.replace(/^.*node_modules\//, ''), false])),
    allowScripts,
  )
})

test('the documents for developers name only existing files, except in bad examples', () => {
  // A path, or a file name in one of the folders that the documents mention.
  const names = globSync('{src,test,scripts,bench,fuzz,torture}/**/*.ts', { cwd: root })
  const developers = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/server.md', 'docs/store.md']
  const lines = developers.flatMap((path) => read(path).split('\n'))
  const good = lines.filter((line) => !line.startsWith('- BAD'))
  for (const [, path = ''] of good.join('\n').matchAll(/`([\w./-]+\.ts)`/g)) {
    // From the example of adding a resource.
    if (path === 'src/resources/filings.ts') continue
    assert.ok(names.includes(path) || names.some((name) => name.endsWith(`/${path}`)), path)
  }
})

test('a decision record has context, decision and consequence in at most 30 lines', () => {
  const decisions = documents.filter((path) => path.startsWith('docs/decisions/')).sort()
  for (const [index, path] of decisions.entries()) {
    const text = read(path)
    assert.ok(path.startsWith(`docs/decisions/${String(index + 1).padStart(4, '0')}-`), path)
    assert.match(text, new RegExp(`^# ${index + 1}\\. `), path)
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    assert.deepEqual(headings, ['Context', 'Decision', 'Consequence'], path)
    assert.ok(text.trimEnd().split('\n').length <= 30, path)
  }
})

test('no file of the project names a path of the development machine', () => {
  const patterns = [
    '*',
    '{bench,bin,docs,fuzz,mappings,scripts,src,test,torture}/**/*.{md,ts,sql,sh}',
    '.ci/*',
  ]
  const paths = globSync(patterns, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.db'))
    .map((entry) => join(entry.parentPath, entry.name))
  const foreign = [root, homedir()].filter((path) => path.split('/').length > 2)
  for (const path of paths) {
    const text = readFileSync(path, 'utf8')
    for (const prefix of foreign) assert.ok(!text.includes(prefix), `${path} names ${prefix}`)
    assert.doesNotMatch(text, /(?<![\w.])\/(?:home|Users)\/[a-z]/, path)
  }
})
