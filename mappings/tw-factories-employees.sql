-- The persons in charge of Taiwan's factories (NDJSON) as employees.
--
--   dossier import employees factories.ndjson.gz --map tw-factories-employees --source tw
--
-- Key: the factory's number, as in tw-factories-companies.sql: a factory has one person in charge.
-- Names are padded with full-width blanks, which are removed. Dates are Republic-of-China years
-- without separators (0991012 is 2010-10-12); those without 7 digits are left out, and so are
-- the captured error pages, and factories without a person.

select
  coalesce(nullif("工廠登記編號", ''), "工廠設立許可案號") as key,
  'TW' as company_jurisdiction,
  coalesce(nullif("工廠登記編號", ''), "工廠設立許可案號") as company_identifier,
  trim("工廠負責人姓名", chr(12288) || ' ') as name,
  '工廠負責人' as position,
  coalesce(nullif("工廠登記編號", ''), "工廠設立許可案號") as employer_identifier,
  "工廠名稱" as employer_name,
  'TW' as employer_jurisdiction,
  (1911 + started[1:3]::integer) || '-' || started[4:5] || '-' || started[6:7] as start_date,
  (1911 + ended[1:3]::integer) || '-' || ended[4:5] || '-' || ended[6:7] as end_date,
  source_file,
  source_row
from (
  select
    *,
    regexp_extract("工廠登記核准日期", '^\d{7}$') as registered,
    regexp_extract("工廠登記歇業核准日期", '^\d{7}$') as closed,
    regexp_extract("工廠登記廢止核准日期", '^\d{7}$') as revoked,
    nullif(registered, '') as started,
    coalesce(nullif(closed, ''), nullif(revoked, '')) as ended
  from source
)
where "工廠登記編號" is not null and trim("工廠負責人姓名", chr(12288) || ' ') <> ''
