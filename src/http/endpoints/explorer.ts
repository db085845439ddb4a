// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server that nobody looks at pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFile } from '../explorer/files.ts'
import { explorerPage } from '../explorer/page.ts'
import { pageHeaders } from '../answers/page-headers.ts'
import {
  documentEndpoint,
  filesEndpoint,
  keptForGood,
  makeAsset,
  onDemand,
} from '../static-assets.ts'
import type { Endpoint } from './endpoint.ts'

/** The page, and its files in the folder `explorer` beside it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  return [
    documentEndpoint('/', async () =>
      makeAsset({
        path: '/',
        type: 'text/html; charset=utf-8',
        body: Buffer.from(explorerPage(await explorerFiles(), resources)),
        headers: pageHeaders,
      }),
    ),
    filesEndpoint('/explorer', async () => (await explorerFiles()).map(fileOf)),
  ]
}

function fileOf({ hashedName, type, text }: ExplorerFile) {
  const asset = makeAsset({
    path: `/explorer/${hashedName}`,
    type,
    body: Buffer.from(text),
    headers: { 'cross-origin-resource-policy': 'same-origin' },
  })
  return [hashedName, asset, keptForGood] as const
}

/** The files, which are made in a thread of its own, since it takes tenths of a second. */
const explorerFiles = onDemand(async () => {
  const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
  const [files] = (await once(thread, 'message')) as [readonly ExplorerFile[]]
  return files
})
