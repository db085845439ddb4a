// Writes the responses of one turn of the event loop together, at its end.
//
// A write wakes its reader. If each response is written once it is made, a busy server wakes its
// proxy or its clients for every one of them, which costs more than making a short page;
// written one after another, they find their readers awake. Processor time of a request with 16
// connections, each response by itself and together: five records 65 and 39 us, twenty 82 and 48, a
// hundred 96 and 86. A response that is alone in its turn waits for nothing.

import type { ServerResponse } from 'node:http'
import { setBeforeStep } from '../../store/serving/pace.ts'

/** Once this many bytes of bodies wait, they are sent: more would not stay in the caches. */
const bytesMax = 131_072

interface Ending {
  readonly response: ServerResponse
  readonly body: string | Buffer | undefined
}

let waiting: Ending[] = []
let bytes = 0

// A step of a scan would hold up the responses that are ready.
setBeforeStep(endAll)

/** Ends a response whose head has been written; its body must not change until it is finished. */
export function endTogether(response: ServerResponse, body: string | Buffer | undefined): void {
  // Node closes the connection of a PRI as soon as the handler has returned.
  if (response.req.method === 'PRI') {
    response.end(body)
    return
  }
  if (waiting.push({ response, body }) === 1) setImmediate(endAll)
  bytes += body?.length ?? 0
  if (bytes >= bytesMax) endAll()
}

function endAll(): void {
  const endings = waiting
  waiting = []
  bytes = 0
  for (const { response, body } of endings) response.end(body)
}
