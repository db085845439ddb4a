-- Rospatent's register of computer programs (CSV) as rights; a company for each right holder.
--
--   dossier import rights programs.csv --map rospatent-software --source rospatent
--
-- Key: the registration number; a second byte-order mark before the first one is removed.
-- Right holders are one per line, with the country in brackets, which is removed; multiple blanks
-- become one, since spellings of a holder differ in them. Remains of HTML in names become blanks.
-- Left out: authors, contacts and publication data. The file lists programs in force only.

with programs as (
  select
    *,
    trim("registration number", chr(65279) || ' ') as number,
    list_filter(
      list_transform(
        string_split("right holders", chr(10)),
        lambda holder: trim(regexp_replace(regexp_replace(holder, '\(\w\w\)\s*$', ''), '\s+', ' ', 'g'))
      ),
      lambda holder: holder <> ''
    ) as names
  from source
)
select
  number as key,
  'RU' as company_jurisdiction,
  unnest(list_distinct(names)) as company_identifier,
  'RU' as jurisdiction,
  trim(regexp_replace("program name", '\s*<br\s*/?>\s*', ' ', 'g')) as name,
  'computer_program' as object_type,
  case actual when 'true' then 'active' else actual end as status,
  number as registration_number,
  coalesce(try_strptime("registration date", '%Y%m%d')::date::varchar, "registration date")
    as registration_date,
  coalesce(try_strptime("application date", '%Y%m%d')::date::varchar, "application date")
    as application_date,
  names as holders,
  source_file,
  source_row
from programs
