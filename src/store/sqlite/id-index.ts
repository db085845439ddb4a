// The index of a resource's records by id.

import type { Resource } from '../../resources/resource.ts'

/** Finds the listings that contain a record; covers all that a merge compares. */
export function createIdIndex({ name }: Resource): string {
  return `create index if not exists ${name}_by_id on ${name} (id, digest, source_id)`
}

export function dropIdIndex({ name }: Resource): string {
  return `drop index ${name}_by_id`
}
