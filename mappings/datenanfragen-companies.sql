-- The company database of datenanfragen.de (NDJSON) as companies.
--
--   dossier import companies companies-2026-07-21.ndjson.gz --map datenanfragen-companies \
--     --source datenanfragen
--
-- A company is its slug. Its jurisdiction is ZZ, unknown: the countries of an entry are those it
-- is relevant for, not its seat, and change. Values are unchanged, with line breaks in addresses.
-- Kept: name, address, e-mail, phone, fax and web.

select
  'ZZ' as jurisdiction,
  slug as identifier,
  name,
  address,
  email,
  phone,
  fax,
  web,
  source_file,
  source_row
from source
