// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server without visitors pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFiles } from '../explorer/files-worker.ts'
import { explorerPage } from '../explorer/page.ts'
import { fileHeaders, pageHeaders } from '../answers/page-headers.ts'
import { assetEndpoint, makeAsset, type Named, onDemand } from '../static-assets.ts'
import type { Endpoint } from './endpoint.ts'

/** The page, and its files in the folder `explorer` next to it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  const assets = onDemand(async () => {
    const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
    const [made] = (await once(thread, 'message')) as [ExplorerFiles]
    const page = makeAsset('text/html; charset=utf-8', explorerPage(made, resources), pageHeaders)
    const files = made.files.map(({ name, type, text }) => {
      const asset = makeAsset(type, text, fileHeaders)
      return [`${made.hash}/${name}`, { asset, isNamedByContent: true }] as const
    })
    return { page: { asset: page }, files: new Map<string, Named>(files) }
  })
  return [
    assetEndpoint('/', async () => (await assets()).page),
    assetEndpoint('/explorer/*', async ({ target }) => {
      return (await assets()).files.get(target.params['*'] ?? '')
    }),
  ]
}
