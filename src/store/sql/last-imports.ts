// The last import of each source, for the metrics.

export const lastImportsSql = `
  select s.name as source, i.version, i.committed_at as "committedAt"
  from imports i join sources s on s.id = i.source_id
  where i.version in (
    select max(version) from imports where reverts is null and reverted_by is null
    group by source_id
  )
  order by i.version desc limit 100`
