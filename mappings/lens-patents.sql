-- Patents from a collection of The Lens (CSV) as rights; a company for each applicant.
--
--   dossier import rights patents.csv.gz --map lens-patents --source lens
--
-- Key: the Lens id, so that a patent of several applicants is one record in the listings of all of
-- them. Applicants are persons and companies of any country, not distinguished: their jurisdiction
-- is ZZ, unknown. Patents without an applicant are left out. Dates are DD/MM/YY. The publication
-- year gives the century; if it contradicts the date, the date is left out. An application is not
-- later than its publication, which gives its century. A date of another form (12.02.2016,
-- as Excel may save it) is refused.

with patents as (
  select
    *,
    try_cast(publication_year as integer) as published,
    2000 + try_cast(application_date[7:8] as integer) as applied
  from source
  where trim(applicants) <> ''
)
select
  lens_id as key,
  'ZZ' as company_jurisdiction,
  trim(unnest(string_split(applicants, ';;'))) as company_identifier,
  jurisdiction,
  title as name,
  'patent' as object_type,
  type as status,
  publication_number as registration_number,
  case when publication_date not similar to '../../..' then publication_date
    when published % 100 = try_cast(publication_date[7:8] as integer)
    then published || '-' || publication_date[4:5] || '-' || publication_date[1:2]
  end as registration_date,
  case when application_date not similar to '../../..' then application_date
    else case when applied > published then applied - 100 else applied end
      || '-' || application_date[4:5] || '-' || application_date[1:2]
  end as application_date,
  list_transform(string_split(applicants, ';;'), lambda holder: trim(holder)) as holders,
  source_file,
  source_row
from patents
