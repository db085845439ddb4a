-- The company database of datenanfragen.de (NDJSON) as companies.
--
--   dossier import companies companies-2026-07-21.ndjson.gz --map datenanfragen-companies \
--     --source datenanfragen
--
-- A company is its slug. Its jurisdiction is ZZ, unknown: the countries for which an entry matters
-- are no seat, and change. Values stay as they are written, line breaks in addresses included.
-- Left out: all but name, address, e-mail, phone, fax and web.

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
