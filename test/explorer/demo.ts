// The demo, as `npm run demo` starts it, for a browser to look at.

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { launch } from '../support/run-dossier.ts'
import { claimDemo, copyDemo } from '../support/shared-demo.ts'

export interface Demo {
  /** The address that it prints for the explorer, with a key. */
  readonly printed: string
  /** Its address without a path, and its key. */
  readonly url: string
  readonly key: string
  /** The address of a view, with the key. */
  readonly at: (path: string) => string
  readonly stop: () => void
}

/** Starts the demo in a folder, on a free port; the first time there, it takes ten seconds. */
export async function startDemo(folder: string): Promise<Demo> {
  const db = join(folder, 'demo/registry.db')
  const share = existsSync(db) ? undefined : claimDemo()
  if (share === undefined && !existsSync(db)) {
    mkdirSync(join(folder, 'demo'), { recursive: true })
    await copyDemo(db)
  }
  const { child, said, until } = launch(folder, ['demo', '--port', '0'], {})
  await until(/Ctrl-C/)
  await share?.(db)
  const [printed = '', url = '', key = ''] =
    /(http:\S+)\/#key=(dossier_\w+)\S*/.exec(said.out) ?? []
  const at = (path: string) => `${url}/#key=${key}${path}`
  return { printed, url, key, at, stop: () => child.kill() }
}
