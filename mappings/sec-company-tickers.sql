-- Companies with listed securities (SEC EDGAR, CSV with a row for each security) as companies.
--
--   dossier import companies tickers-2025-02-28.csv --map sec-company-tickers --source sec \
--     --snapshot --as-of 2025-02-28
--
-- A company is a CIK; its tickers and exchanges are sorted lists, since the rows have no order. A
-- security without an exchange has a blank in earlier extracts and the word None in later ones:
-- both are kept.

select
  'US' as jurisdiction,
  "CIK" as identifier,
  min("Name") as name,
  list_sort(list_distinct(list("Ticker"))) as tickers,
  list_sort(list_distinct(list(coalesce("Exchange", '')))) as exchanges
from source
group by "CIK"
order by min(source_file), min(source_row)
