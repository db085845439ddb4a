-- The constituents of the S&P 500 as they were listed in 2014 (CSV with three columns), as
-- companies.
--
--   dossier import companies constituents-2014.csv --map sp500-constituents-2014 --source sp500-2014
--
-- There is no CIK: a company is its symbol, unrelated to those of sp500-constituents.sql.

select
  'US' as jurisdiction,
  'symbol:' || "Symbol" as identifier,
  "Name" as name,
  "Sector" as sector,
  source_file,
  source_row
from source
