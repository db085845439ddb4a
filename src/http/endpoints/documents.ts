// The documents: OpenAPI, the client's guide and their index, all of which `npm run generate` makes
// from the code; and the reference page, which is Swagger UI for our own document, without requests
// to any other host.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { contentPolicy, fileHeaders, pageHeaders } from '../answers/page-headers.ts'
import { assetEndpoint, makeAsset, onDemand } from '../static-assets.ts'
import type { HttpRequest } from '../wire/exchange.ts'
import type { Endpoint } from './endpoint.ts'

const scriptType = 'text/javascript; charset=utf-8'
const styleType = 'text/css; charset=utf-8'

/** As strict as the explorer's, except for what Swagger UI needs: its icons, and a policy. */
const headers: Readonly<Record<string, string>> = {
  ...pageHeaders,
  // It makes markup only from our own document, through its own sanitiser.
  'content-security-policy': contentPolicy("'self' data:", 'default dompurify'),
}

/** The guide's page has an empty icon. */
const guideHeaders: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'content-security-policy': contentPolicy('data:'),
}

/** The page; its files are in the folder `docs` beside it. */
const pageOf = (isExplorerOn: boolean) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Dossier: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <nav class="swagger-ui"><div class="wrapper">
      <p>${isExplorerOn ? explorerLink : ''}${guideLink}</p>
    </div></nav>
    <div id="reference"></div>
    <noscript>
      <p>The reference needs JavaScript. It shows <a href="openapi.json">openapi.json</a>.</p>
    </noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`

const guideLink = `<a class="link" href="docs/guide">Guide to the API</a>`
const explorerLink = `<a class="link" href="./">Explorer: look at companies</a> · `

// Our document has no links between operations; their column makes the page too wide for a phone.
const style = '.swagger-ui .response-col_links { display: none }'

// Swagger UI has dark colors for a class that only its own page sets. The policy lets markup pass,
// as it expects, but neither scripts nor their addresses.
const startScript = `
const dark = globalThis.matchMedia?.('(prefers-color-scheme: dark)')
const choose = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark?.addEventListener('change', choose)
if (dark) choose()
const createHTML = (text) => text
globalThis.trustedTypes?.createPolicy('default', { createHTML })
SwaggerUIBundle({
  url: '../openapi.json'.slice(location.pathname.endsWith('/') ? 0 : 3),
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/** The files of the page: 2 MB, which a server keeps only once a client has asked for them. */
const referenceFiles = onDemand(async () => {
  const packageFile = import.meta.resolve('swagger-ui-dist/package.json')
  const packaged = (name: string) => readFile(new URL(name, packageFile))
  const styles = `${String(await packaged('swagger-ui.css'))}\n${style}\n`
  return new Map([
    ['swagger-ui.css', makeAsset(styleType, styles, fileHeaders)],
    [
      'swagger-ui-bundle.js',
      makeAsset(scriptType, await packaged('swagger-ui-bundle.js'), fileHeaders),
    ],
    ['start.js', makeAsset(scriptType, startScript, fileHeaders)],
  ])
})

/** The OpenAPI document, the reference page that shows it, the client's guide, and their index. */
export function documents(isExplorerOn: boolean): readonly Endpoint[] {
  const page = makeAsset('text/html; charset=utf-8', pageOf(isExplorerOn), headers)
  const index = onDemand(() => read('../../../docs/llms.txt').toString())
  return [
    assetEndpoint('/docs', () => page),
    fileEndpoint('/openapi.json', 'application/json', '../../../docs/openapi.json'),
    fileEndpoint('/docs/client.md', 'text/markdown', '../../../docs/client.md'),
    fileEndpoint('/docs/guide', 'text/html', '../../../docs/guide.html', guideHeaders),
    fileEndpoint('/docs/guide.css', 'text/css', '../../../docs/guide.css', fileHeaders),
    assetEndpoint('/llms.txt', async (request) => {
      // Agents need whole addresses.
      const text = (await index()).replaceAll('](/', `](${addressOf(request)}/`)
      return makeAsset('text/plain; charset=utf-8', text)
    }),
    assetEndpoint('/docs/{file}', async ({ target }) => {
      return (await referenceFiles()).get(target.params['file'] ?? '')
    }),
  ]
}

/** The endpoint of a file that is served as it is. */
function fileEndpoint(
  path: string,
  type: string,
  file: string,
  more?: Readonly<Record<string, string>>,
): Endpoint {
  const found = onDemand(() => makeAsset(`${type}; charset=utf-8`, read(file), more))
  return assetEndpoint(path, found)
}

function read(file: string): Buffer {
  return readFileSync(new URL(file, import.meta.url))
}

/** The address of the service as the client wrote it; empty if it named none. */
function addressOf({ headers: { host = '' }, protocol }: HttpRequest): string {
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${protocol}://${host}` : ''
}
