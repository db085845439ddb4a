// The explorer: a page in which people look at a company. It is made at its first request, so that
// a server that nobody looks at pays nothing for it.

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Resource } from '../../resources/resource.ts'
import { notFound } from '../errors.ts'
import type { ExplorerFile } from '../explorer/files.ts'
import { explorerPage } from '../explorer/page.ts'
import { pageHeaders } from '../answers/page-headers.ts'
import { keptForGood, makeAsset, revalidated } from '../static-assets.ts'
import { type Endpoint, type Handler, readMethods, type Service } from './endpoint.ts'

/** The page, and its files in the folder `explorer` beside it. */
export function explorer(resources: readonly Resource[]): readonly Endpoint[] {
  const ready = new WeakMap<Service, Promise<Handlers>>()
  const handlersOf = (service: Service): Promise<Handlers> => {
    const known = ready.get(service)
    if (known !== undefined) return known
    const making = makeHandlers(service, resources)
    ready.set(service, making)
    making.catch(() => ready.delete(service))
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
  const files = await takeFiles()
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

let made: Promise<readonly ExplorerFile[]> | undefined

/** The files, which are made once for the process. */
async function takeFiles(): Promise<readonly ExplorerFile[]> {
  made ??= makeFiles()
  try {
    return await made
  } catch (error) {
    // The next request tries again.
    made = undefined
    throw error
  }
}

/** Makes the files in a thread of its own, since it takes tenths of a second. */
async function makeFiles(): Promise<readonly ExplorerFile[]> {
  const thread = new Worker(new URL('../explorer/files-worker.ts', import.meta.url))
  const [files] = (await once(thread, 'message')) as [readonly ExplorerFile[]]
  return files
}
