-- The dates in Taiwan's register of factories (NDJSON) as events, one for each that is filled in.
--
--   dossier import events factories.ndjson.gz --map tw-factories-events --source tw
--
-- Key: the factory's number, as in tw-factories-companies.sql, and the kind of event. Dates are
-- Republic-of-China years without separators (0991012 is 2010-10-12); those without 7 digits are
-- left out. The file has no values before or after.

with dates as (
  from (
    select
      coalesce(nullif("工廠登記編號", ''), "工廠設立許可案號") as number,
      "工廠登記核准日期" as registered,
      "工廠設立核准日期" as permitted,
      "最後核准變更日期" as last_change,
      "工廠登記歇業核准日期" as closed,
      "工廠登記廢止核准日期" as revoked,
      "工廠登記公告廢止核准日期" as revocation_published,
      source_file,
      source_row
    from source
    where "工廠登記編號" is not null
  )
  unpivot (
    day for attr
    in (registered, permitted, last_change, closed, revoked, revocation_published)
  )
)
select
  number || '|' || attr as key,
  'TW' as company_jurisdiction,
  number as company_identifier,
  'TW' as jurisdiction,
  (1911 + day[1:3]::integer) || '-' || day[4:5] || '-' || day[6:7] as date,
  attr,
  number as identifier,
  source_file,
  source_row
from dates
where regexp_full_match(day, '\d{7}')
