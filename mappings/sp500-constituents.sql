-- The constituents of the S&P 500 (CSV, since 2023) as companies.
--
--   dossier import companies constituents.csv --map sp500-constituents --source sp500
--
-- A company is a CIK, here in ten digits as the SEC writes it, so that both sources refer to the
-- same company. Two share classes of one company are two rows: it has both symbols, and the
-- alphabetically first name. Footnote marks in places are kept.

select
  'US' as jurisdiction,
  lpad("CIK", 10, '0') as identifier,
  min("Security") as name,
  min("Headquarters Location") as address,
  min("GICS Sector") as sector,
  min("GICS Sub-Industry") as sub_industry,
  list_sort(list_distinct(list("Symbol"))) as symbols,
  min("Date added") as date_added,
  min("Founded") as founded
from source
group by "CIK"
order by min(source_file), min(source_row)
