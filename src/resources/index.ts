import { employees } from './employees.ts'
import { events } from './events.ts'
import { jobs } from './jobs.ts'
import { posTerminals } from './pos-terminals.ts'
import type { Resource } from './resource.ts'
import { rights } from './rights.ts'

/** Every resource that Dossier imports, serves and documents. To add one, add a line here. */
export const resources: readonly Resource[] = [rights, employees, jobs, posTerminals, events]

/** The resource that records changes of companies. */
export const changeResource: Resource = events
