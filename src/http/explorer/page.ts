// The explorer's page. What it shows, it gets from the endpoints that every client has.

import { isNullable } from '../../resources/field.ts'
import type { ResourceDescription } from '../../resources/description.ts'
import type { Resource } from '../../resources/resource.ts'
import type { ExplorerFiles } from './files-worker.ts'

/** The page; every address in it is relative, so that it works behind any prefix. */
export function explorerPage(
  { hash, files }: ExplorerFiles,
  resources: readonly Resource[],
): string {
  const folder = `explorer/${hash}`
  const modules = files.filter(({ type }) => type.startsWith('text/javascript'))
  // Without these, a browser discovers the packages only when it has read what imports them.
  const preloads = modules.map(({ name }) => `<link rel="modulepreload" href="${folder}/${name}">`)
  // Not run as code: data, in which `<` could only end the element.
  const description = JSON.stringify(resources.map(describe)).replaceAll('<', '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dossier</title>
<link rel="icon" type="image/svg+xml" href="${folder}/icon.svg">
<link rel="stylesheet" href="${folder}/style.css">
${preloads.join('\n')}
<script type="application/json" id="resources">${description}</script>
<script type="module" src="${folder}/main.js"></script>
</head>
<body>
<div id="page"><p class="late">Loading … If nothing else appears, reload this page.</p></div>
<noscript>
<p>The explorer needs JavaScript. The <a href="docs/guide">guide</a> and the
<a href="docs">reference</a> describe the API.</p>
</noscript>
</body>
</html>
`
}

function describe(resource: Resource): ResourceDescription {
  const { name, title, description, order, metaOf, changeFields, period, picture } = resource
  const fields = Object.entries(resource.fields)
  // The text by which readers would look for a record: a name, not a value that groups records.
  const [titleField] =
    fields.find(([, { sortable, filter }]) => sortable && filter === undefined) ??
    fields.find(([, { filter }]) => filter === 'value') ??
    []
  return {
    name,
    title,
    description,
    order,
    metaOf,
    changeFields,
    period,
    picture,
    fields: fields.map(([fieldName, field]) => ({
      name: fieldName,
      label: labelOf(fieldName),
      kind: field.kind,
      description: field.description,
      isNullable: isNullable(field),
      filter: field.filter,
      isSortable: field.sortable || field.filter === 'range',
      isTitle: fieldName === titleField,
    })),
  }
}

/** Words of names that are written differently for readers. */
const written: Readonly<Record<string, string>> = { attr: 'attribute', id: 'ID' }

function labelOf(name: string): string {
  const words = name.split('_').map((word) => written[word] ?? word)
  const label = words.join(' ')
  return label.charAt(0).toUpperCase() + label.slice(1)
}
