// Converts a store to the formats before, to show that they are upgraded.

import type { Resource } from '../../src/resources/resource.ts'
import { steps } from '../../src/store/postgres/schema.ts'
import { upgradeRegistry } from '../../src/store/sqlite/schema.ts'
import { storeKind } from './store-at.ts'
import { changeStore } from './store-state.ts'

const isFile = storeKind === 'sqlite'

/** As of format 6 or step 5: there is no index of names. */
export function makeWithoutNames(db: string): void {
  for (const table of ['names', 'words']) changeStore(db, `drop table ${table}`)
  changeStore(db, 'alter table store drop column words')
  changeStore(db, 'alter table sources drop column name_attribute')
  changeStore(db, isFile ? 'pragma user_version = 6' : 'delete from migrations where step = 6')
}

/** As of format 5 or step 4: the former heads of listings are not kept. */
export function makeWithoutPastHeads(db: string, resources: readonly Resource[]): void {
  makeWithoutNames(db)
  for (const { name } of resources) changeStore(db, `drop table ${name}_heads_past`)
  changeStore(db, isFile ? 'pragma user_version = 5' : 'delete from migrations where step = 5')
}

/** As of format 4 or step 3: nothing can be taken back. */
export function makeWithoutReverts(db: string, resources: readonly Resource[]): void {
  makeWithoutPastHeads(db, resources)
  changeStore(db, 'alter table imports drop column reverts')
  changeStore(db, 'alter table imports drop column reverted_by')
  changeStore(db, 'alter table company_attributes_past drop column is_present')
  changeStore(db, isFile ? 'pragma user_version = 4' : 'delete from migrations where step = 4')
}

/** As of format 3 or step 2: each record's row has its text. */
export function makeOfRows(db: string, resources: readonly Resource[]): void {
  makeWithoutReverts(db, resources)
  for (const { name } of resources) {
    for (const sql of [
      `create table ${name}_rows as
        select company_id, position, id, sort, source_id, version, digest, record
        from ${name}_records`,
      `drop view ${name}_view`,
      `drop view ${name}_records`,
      `drop table ${name}_pieces`,
      `drop table ${name}`,
      `alter table ${name}_rows rename to ${name}`,
      `create index ${name}_by_id on ${name} (id)`,
      ...(isFile ? [] : [`alter table ${name} add primary key (company_id, position)`]),
      `create view ${name}_view as select company_id, id from ${name}`,
    ]) {
      changeStore(db, sql)
    }
  }
  changeStore(db, isFile ? 'pragma user_version = 3' : 'delete from migrations where step = 3')
}

/** As of format 2 or step 1: imports have no lineage, and heads not the largest record. */
export function makeWithoutLineage(db: string, resources: readonly Resource[]): void {
  makeOfRows(db, resources)
  changeStore(db, 'alter table imports drop column lineage')
  changeStore(db, 'alter table heads drop column largest')
  changeStore(db, isFile ? 'pragma user_version = 2' : 'delete from migrations where step = 2')
}

/** Upgrades what does not depend on a resource, after `makeOfRows`; the rest is still to do. */
export function upgradeHalfway(db: string): void {
  changeStore(
    db,
    isFile
      ? upgradeRegistry(3)
      : `${steps.slice(2).join('\n;\n')};
         insert into migrations select n, 0 from generate_series(3, ${steps.length}) n`,
  )
}
