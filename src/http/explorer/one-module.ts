// Puts the explorer's modules into one: a page opens in some 0.6 of the time.

import { join } from 'node:path/posix'

const importing = /^import (\w+|\{[^{}]*\}) from '([^'\n]+)'$/gm
const exporting = /^export (?=(?:async )?(?:const|function\*?|class) (\w+))/gm

/**
 * Puts a module and those that it imports into one. Each of these becomes a function, called once
 * in the order in which modules run, that returns what it exports. Packages stay modules.
 *
 * @param main the path of the module.
 * @param read reads a module by its path, without types.
 * @throws Error if modules import each other, or import or export in forms other than these.
 */
export function makeOneModule(main: string, read: (path: string) => string): string {
  /** What holds the exports of a path; undefined while its module is read. */
  const names = new Map<string, string | undefined>()
  const packages: string[] = []
  const functions: string[] = []

  function nameOf(path: string, make: (name: string) => void): string {
    if (names.has(path)) return names.get(path) ?? fail(`${path} imports itself through others`)
    names.set(path, undefined)
    const name = `module${names.size}`
    make(name)
    names.set(path, name)
    return name
  }

  const nameOfPackage = (path: string) =>
    nameOf(path, (name) => packages.push(`import * as ${name} from '${path}'`))

  const nameOfModule = (path: string) =>
    nameOf(path, (name) => {
      const { body, exported } = readBody(path)
      functions.push(`const ${name} = (() => {\n${body}\nreturn { ${exported.join(', ')} }\n})()`)
    })

  function readBody(path: string) {
    const text = read(path)
    const exported = Array.from(text.matchAll(exporting), ([, name]) => name)
    const body = text.replace(exporting, '').replace(importing, (_, what: string, from: string) => {
      const isOwn = from.startsWith('.')
      const name = isOwn ? nameOfModule(join(path, '..', from)) : nameOfPackage(from)
      if (!what.startsWith('{')) return `const ${what} = ${name}.default`
      return `const ${what.replaceAll(' as ', ': ')} = ${name}`
    })
    if (/^(?:import|export)\b/m.test(body)) fail(`${path} imports or exports in another form`)
    return { body, exported }
  }

  const { body } = readBody(main)
  return [...packages, ...functions, body].join('\n')
}

function fail(reason: string): never {
  throw new Error(`the explorer cannot be put together: ${reason}`)
}
