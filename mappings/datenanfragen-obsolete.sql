-- The entries that datenanfragen.de has removed (NDJSON) as events of their companies.
--
--   dossier import events obsolete-2026-07-21.ndjson --map datenanfragen-obsolete \
--     --source datenanfragen-obsolete
--
-- Key: the slug. The entries have no date, so the date in the file name is used. The value after is
-- the reason, and the slug of the successor, if any.

select
  slug as key,
  'ZZ' as company_jurisdiction,
  slug as company_identifier,
  'ZZ' as jurisdiction,
  regexp_extract(source_file, '(\d{4}-\d\d-\d\d)[^/]*$', 1) as date,
  'status' as attr,
  concat_ws(': ', reason, "redirect-to") as after,
  slug as identifier,
  source_file,
  source_row
from source
