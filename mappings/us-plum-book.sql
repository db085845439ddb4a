-- The "Plum Book", leading positions of the US government (CSV, editions 2012 and 2016), as
-- employees; the company is the agency.
--
--   dossier import employees positions-2016.csv.gz --map us-plum-book --source plum-book-2016
--
-- Key: the row's id, which is valid for one edition only: give each edition its own source.
-- Agencies are in capitals in only one edition; their identifier is always in capitals. Left out:
-- positions without a person's name ("Vacant", "Career Incumbent"), pay and kind of appointment.
-- There is no first day in office.

select
  id as key,
  'US' as company_jurisdiction,
  upper(trim(agcy_name)) as company_identifier,
  id as identifier,
  trim(name_of_incumbent) as name,
  trim(title) as position,
  pborg_seq as employer_identifier,
  trim(agcy_name) as employer_name,
  'US' as employer_jurisdiction,
  coalesce(try_strptime(trim(expires), '%m/%d/%Y')::date::varchar, expires) as end_date,
  source_file,
  source_row
from source
where lower(trim(name_of_incumbent)) not in ('', 'vacant', 'career incumbent')
