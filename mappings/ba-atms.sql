-- Cash machines of Buenos Aires (open data of the city, CSV with semicolons) as pos_terminals; the
-- company is the bank.
--
--   dossier import pos_terminals cajeros-automaticos.csv --map ba-atms --source ba
--
-- Key: the id of the place. One record per place, since the number of machines is unknown
-- (0) for a whole network. There is no status. Left out: coordinates and postal codes.

select
  "ID" as key,
  'AR' as company_jurisdiction,
  trim("BANCO") as company_identifier,
  "ID" as terminal_id,
  concat_ws(', ', nullif(trim("DOM_ORIG"), ''), nullif(trim("BARRIO"), '')) as location,
  trim("BANCO") as bank_name,
  'AR' as jurisdiction,
  source_file,
  source_row
from source
