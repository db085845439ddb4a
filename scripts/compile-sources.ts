// Compiles the sources when they are installed, so that the first command starts as fast as any
// other. Node.js keeps them for each user: contrib/Dockerfile links them for the one who may not
// write here.

import { execFileSync } from 'node:child_process'
import { chmodSync, globSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const cache = join(root, 'node_modules/.cache/dossier')

enableCompileCache(cache)
for (const path of globSync('src/*/**/*.ts', { cwd: root, exclude: ['src/explorer/**'] })) {
  if (!path.endsWith('-worker.ts')) await import(join(root, path))
}
flushCompileCache()
// The executable is compiled as it runs.
execFileSync(join(root, 'bin/dossier'), ['--version'], {
  env: { ...process.env, NODE_COMPILE_CACHE: cache },
})
// Node.js writes them for their owner alone.
for (const path of globSync('*/*', { cwd: cache })) chmodSync(join(cache, path), 0o644)
