// The template tag `html` makes Preact nodes, so that text is never markup.

import htm from 'htm'
import { h, type VNode } from 'preact'

type Html = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode

export const html = htm.bind(h) as Html

/** What a component shows. */
export type Shown = VNode | readonly VNode[] | string | null
