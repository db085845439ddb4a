// How fresh records are: of which day the newest extract of each source is, and when it came.

import type { Version } from '../answers.ts'
import { html } from '../html.ts'
import { texts } from '../texts.ts'
import { daysOf } from './versions.ts'

const shownMax = 3

/** @param imports the last import of each source, newest first. */
export function Freshness({ imports }: { readonly imports: readonly Version[] }) {
  return imports.slice(0, shownMax).map(
    (version) =>
      html`<p key=${version.source} class="freshness"><bdi>
          ${texts.freshness(version.source, daysOf(version))}</bdi></p>`,
  )
}
