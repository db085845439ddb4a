// What the service uses of `node:http`. An `import` of that reads all of its exports, and some of
// them load Node's client for `fetch` and WebSocket: 14 MB of memory, and 35 ms of each start.

export const { createServer, METHODS, request, STATUS_CODES } =
  process.getBuiltinModule('node:http')
