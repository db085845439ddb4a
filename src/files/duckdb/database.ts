// One DuckDB instance in memory per import: its limits, its lockdown, interrupting its queries.

import { setTimeout as sleep } from 'node:timers/promises'
import { makeTemporaryFolder, removeTemporaryFolder } from '../temporary-folder.ts'

/** DuckDB's memory limit, in MB; each row that is read must fit into it several times. */
export const memoryMb = 288

/** What a mapping may access and use. */
interface MappingBounds {
  /** The files that the view `source` reads. */
  readonly paths: readonly string[]
  /** Folders whose files the mapping itself may read. */
  readonly folders: readonly string[]
  /** The maximum size of temporary files, in bytes. */
  readonly tempBytes: number
}

export type Database = Awaited<ReturnType<typeof openDatabase>>

/** How long an interrupted query may take to end, in ms, before it is abandoned. */
const graceMs = 1_000

/** Opens a DuckDB instance that never accesses the network. */
export async function openDatabase(signal: AbortSignal) {
  // Loaded only here, so that the server does not load it.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const folder = makeTemporaryFolder('duckdb')
  const instance = await DuckDBInstance.create(':memory:', {
    // A second thread would need its own buffers, and would not make imports faster.
    threads: '1',
    memory_limit: `${memoryMb}MB`,
    temp_directory: folder,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const set = (setting: string) => connection.run(`set ${setting}`)
  await set('enable_external_file_cache = false')
  // Otherwise the texts of moments would depend on the time zone of the machine.
  await set("TimeZone = 'UTC'")
  const interrupt = () => connection.interrupt()
  signal.addEventListener('abort', interrupt)
  let pending: Promise<unknown> = Promise.resolve()
  /** Registers work that is awaited later, or never; `close` waits for it. */
  const begin = <T>(work: Promise<T>) => {
    // The work may fail while nothing awaits it.
    pending = work.catch(() => undefined)
    return work
  }
  /** Interrupts the current query, and removes all temporary files. */
  async function close(): Promise<void> {
    interrupt()
    signal.removeEventListener('abort', interrupt)
    const hasEnded = await settles(pending)
    removeTemporaryFolder(folder)
    // Closing would wait for the query, which does not end.
    if (!hasEnded) return
    connection.closeSync()
    instance.closeSync()
  }
  return {
    connection,
    /** For the files that it reads; removed at the end. */
    folder,
    begin,
    /**
     * Waits for work of the connection. The signal interrupts it.
     *
     * @throws the signal's reason once it is aborted, even if the work ignores the interruption.
     */
    run: <T>(work: Promise<T>) => interruptible(begin(work), signal),
    /** Sets memory use: `wide` is slower, but suits rows of kilobytes or megabytes. */
    async tune(rows: 'ordinary' | 'wide') {
      const isWide = rows === 'wide'
      // DuckDB counts a text as 16 bytes here, so chunks of wide rows need the smallest limit.
      await set(`streaming_buffer_size = '${isWide ? '1B' : '64KB'}'`)
      // With caching, filters would merge small chunks into one of 2,048 rows, however wide.
      await set(`enable_caching_operators = ${isWide ? 'false' : 'true'}`)
      await set(`allocator_flush_threshold = '${isWide ? '1MB' : '128MB'}'`)
      await set(`allocator_bulk_deallocation_flush_threshold = '${isWide ? '1MB' : '512MB'}'`)
    },
    /** Permanently denies access to everything that the bounds do not name. */
    async lock({ paths, folders, tempBytes }: MappingBounds) {
      await set(`max_temp_directory_size = '${Math.ceil(tempBytes / 1_024)}KiB'`)
      await set(`allowed_paths = [${paths.map(literal).join(', ')}]`)
      await set(`allowed_directories = [${folders.map(literal).join(', ')}]`)
      await set('enable_external_access = false')
      await set('lock_configuration = true')
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Waits for work; after the signal is aborted, for at most `graceMs`. */
async function interruptible<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => undefined)
  const onAbort = () => {
    void settles(work).then(() => reject(signal.reason as Error))
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, aborted])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Whether work settles within `graceMs`. */
async function settles(work: Promise<unknown>): Promise<boolean> {
  const ended = Promise.allSettled([work]).then(() => true)
  return Promise.race([ended, sleep(graceMs, false, { ref: false })])
}

/** All rows of a SELECT, with texts for its parameters. */
export async function rowsOf({ connection, run }: Database, select: string, values?: string[]) {
  return (await run(connection.runAndReadAll(select, values))).getRows()
}

export interface Column {
  readonly name: string
  /** As DuckDB calls it: VARCHAR, BLOB. */
  readonly type: string
}

export async function columnsOf(database: Database, select: string): Promise<Column[]> {
  // The driver removes a byte order mark at the start of a text.
  const described = `select '.' || column_name, column_type from (describe (${select}))`
  const rows = await rowsOf(database, described)
  return rows.map(([name, type]) => ({ name: String(name).slice(1), type: String(type) }))
}

/** A string literal in DuckDB's SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A quoted identifier in DuckDB's SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
