-- Taiwan's register of factories (NDJSON) as companies.
--
--   dossier import companies factories.ndjson.gz --map tw-factories-companies --source tw
--
-- A company is a factory's registration number; the only one without has its permit number.
-- Company numbers are shared by several factories, or empty, so they are an attribute. Left out:
-- the captured error pages, which have neither number, and dates (events:
-- tw-factories-events.sql).

select
  'TW' as jurisdiction,
  coalesce(nullif("工廠登記編號", ''), "工廠設立許可案號") as identifier,
  "工廠名稱" as name,
  "工廠地址" as address,
  "工廠組織型態" as legal_form,
  "公司（營利事業）統一編號" as company_number,
  "工廠登記狀態" as status,
  "最近一次校正結果" as last_survey,
  source_file,
  source_row
from source
where "工廠登記編號" is not null
