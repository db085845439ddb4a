// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server that nobody looks at pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFile } from '../explorer/files.ts'
import { explorerPage } from '../explorer/page.ts'
import { fileHeaders, pageHeaders } from '../answers/page-headers.ts'
import { assetEndpoint, makeAsset, onDemand } from '../static-assets.ts'
import type { Endpoint } from './endpoint.ts'

/** The page, and its files in the folder `explorer` beside it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  const page = onDemand(async () => {
    const html = explorerPage(await explorerFiles(), resources)
    return { asset: makeAsset('text/html; charset=utf-8', html, pageHeaders) }
  })
  const files = onDemand(async () => {
    const named = (await explorerFiles()).map(({ hashedName, type, text }) => {
      const asset = makeAsset(type, text, fileHeaders)
      return [hashedName, { asset, isNamedByContent: true }] as const
    })
    return new Map(named)
  })
  return [
    assetEndpoint('/', page),
    assetEndpoint('/explorer/{file}', async ({ target }) => {
      return (await files()).get(target.params['file'] ?? '')
    }),
  ]
}

/** The files, which are made in a thread of its own, since it takes tenths of a second. */
const explorerFiles = onDemand(async () => {
  const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
  const [files] = (await once(thread, 'message')) as [readonly ExplorerFile[]]
  return files
})
