-- NASA's patent portfolio (data.nasa.gov, CSV) as rights; the company is the NASA centre.
--
--   dossier import rights NASA_Patents.csv --map nasa-patents --source nasa
--
-- Key: the row's case number, patent number and title, since case numbers are not unique.
-- A patent number of 0 means none. Left out: the expiry date, since a right has no such field, and
-- the application serial number. The file has no date of application or registration.

select
  concat_ws('|', "Case Number", "Patent Number", "Application SN", "Title") as key,
  'US' as company_jurisdiction,
  trim("Center") as company_identifier,
  'US' as jurisdiction,
  trim("Title") as name,
  'patent' as object_type,
  "Status" as status,
  nullif(trim("Patent Number"), '0') as registration_number,
  [trim("Center")] as holders,
  source_file,
  source_row
from source
