// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server that nobody looks at pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import { notFound } from '../errors.ts'
import type { ExplorerFile } from '../explorer/files.ts'
import { explorerPage } from '../explorer/page.ts'
import { pageHeaders } from '../page-headers.ts'
import { keptForGood, makeAsset, revalidated } from '../static-assets.ts'
import { type Endpoint, type Handler, readMethods, type Service } from './endpoint.ts'

/** The page, and its files in the folder `explorer` beside it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  const made = new WeakMap<Service, Promise<Handlers>>()
  const handlersOf = (service: Service): Promise<Handlers> => {
    const known = made.get(service)
    if (known !== undefined) return known
    const making = makeHandlers(service, resources)
    made.set(service, making)
    // The next request tries again.
    making.catch(() => made.delete(service))
    return making
  }
  const endpoint = (path: string, choose: (handlers: Handlers, file: string) => Handler) => ({
    path,
    methods: readMethods,
    scope: undefined,
    isAsset: true as const,
    operation: undefined,
    createHandler:
      (service: Service): Handler =>
      async (request, reply) => {
        const { file = '' } = request.params as { file?: string }
        return choose(await handlersOf(service), file)(request, reply)
      },
  })
  return [
    endpoint('/', ({ page }) => page),
    endpoint('/explorer/{file}', ({ files }, name) => {
      const handler = files.get(name)
      if (handler === undefined) throw notFound()
      return handler
    }),
  ]
}

interface Handlers {
  readonly page: Handler
  /** By hashed name. */
  readonly files: ReadonlyMap<string, Handler>
}

async function makeHandlers(
  { assets }: Service,
  resources: readonly Resource[],
): Promise<Handlers> {
  const files = await makeFiles()
  const page = makeAsset({
    path: '/',
    type: 'text/html; charset=utf-8',
    body: Buffer.from(explorerPage(files, resources)),
    headers: pageHeaders,
  })
  const handlerOf = ({ hashedName, type, text }: ExplorerFile): Handler =>
    assets.createHandler(
      makeAsset({
        path: `/explorer/${hashedName}`,
        type,
        body: Buffer.from(text),
        headers: { 'cross-origin-resource-policy': 'same-origin' },
      }),
      keptForGood,
    )
  return {
    page: assets.createHandler(page, revalidated),
    files: new Map(files.map((file) => [file.hashedName, handlerOf(file)])),
  }
}

/** Makes the files in a thread of its own, since it takes tenths of a second. */
async function makeFiles(): Promise<readonly ExplorerFile[]> {
  const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
  const [files] = (await once(thread, 'message')) as [readonly ExplorerFile[]]
  return files
}
