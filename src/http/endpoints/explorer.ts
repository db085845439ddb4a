// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server without visitors pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFiles } from '../explorer/files-worker.ts'
import { explorerPage } from '../explorer/page.ts'
import { fileHeaders, pageHeaders } from '../answers/page-headers.ts'
import { type Asset, assetEndpoint, makeAsset, onDemand } from '../static-assets.ts'
import type { Endpoint } from './endpoint.ts'

/** The files, by their paths in the folder `explorer`: the same in all servers of a process. */
const readFiles = onDemand(async () => {
  const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
  const [made] = (await once(thread, 'message')) as [ExplorerFiles]
  // Their addresses change with their content.
  const headers = { ...fileHeaders, 'cache-control': 'public, max-age=31536000, immutable' }
  const files = made.files.map(({ name, type, text }): [string, Asset] => {
    return [`${made.hash}/${name}`, makeAsset(type, text, headers)]
  })
  return { made, files: new Map(files) }
})

/** The page, and its files next to it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  const readPage = onDemand(async () => {
    const text = explorerPage((await readFiles()).made, resources)
    return makeAsset('text/html; charset=utf-8', text, pageHeaders)
  })
  return [
    assetEndpoint('/', readPage),
    assetEndpoint('/explorer/*', async ({ target }) => {
      return (await readFiles()).files.get(target.params['*'] ?? '')
    }),
  ]
}
