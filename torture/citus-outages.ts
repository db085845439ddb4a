// Which companies may be refused, and when: those of a node that is down, and all while the
// coordinator is.

/** A node that is down. */
export interface Outage {
  /** Notes that the node is back. */
  end(): void
}

/** The outages so far. */
export interface Outages {
  /** @param port of the worker; undefined for the coordinator. */
  begin(port: number | undefined): Outage
  /** Whether a request for a company met an outage of its node, or the time of its recovery. */
  hasMet(company: number, from: number, to: number): boolean
  /** Whether a request was made entirely while some other company’s node was down. */
  isMeanwhile(from: number, to: number): boolean
}

/** How soon after the return of a node its companies are served again. */
const recoveredMs = 2_000

/** @param places are the ports of the companies' nodes. */
export function createOutages(places: ReadonlyMap<number, number>): Outages {
  const all: { port: number | undefined; from: number; to: number }[] = []
  return {
    begin(port) {
      const outage = { port, from: performance.now(), to: Infinity }
      all.push(outage)
      return { end: () => (outage.to = performance.now()) }
    },
    hasMet: (company, start, end) =>
      all.some(
        ({ port, from, to }) =>
          (port === undefined || port === places.get(company)) &&
          start <= to + recoveredMs &&
          end >= from,
      ),
    isMeanwhile: (start, end) => all.some(({ from, to }) => start >= from && end <= to),
  }
}
