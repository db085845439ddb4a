// The metrics of a server, as Prometheus would read them.

import assert from 'node:assert/strict'

/** A sample: `name{labels}`, and its value. Labels have no order; here, `le` is the last one. */
export type Samples = ReadonlyMap<string, number>

/** Parses the text format of Prometheus; fails on an invalid line. */
export function parseMetrics(text: string): Samples {
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || /^# (HELP|TYPE) [a-z_]\w* \S/.test(line)) continue
    const [, written = '', value = ''] =
      /^([a-z_]\w*(?:\{(?:[a-z_]\w*="[^"\n]*",?)*\})?) (\S+)$/.exec(line) ?? []
    const name = written.replace(/\{(le="[^"]*"),(.*)\}$/, '{$2,$1}')
    assert.ok(name !== '' && !samples.has(name), `no sample, or a second one: ${line}`)
    assert.ok(value === 'Nan' || !Number.isNaN(Number(value)), line)
    samples.set(name, Number(value))
  }
  return samples
}

/** Reads them from a URL. */
export async function readMetrics(url: string): Promise<Samples> {
  const answer = await fetch(url)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  return parseMetrics(await answer.text())
}

/** The sum of the samples whose names match. */
export function sumOf(samples: Samples, pattern: RegExp): number {
  return [...samples].reduce((sum, [name, value]) => sum + (pattern.test(name) ? value : 0), 0)
}
