-- New York City's job postings (NYC Open Data, CSV, exports of 2019) as jobs; the company is the
-- agency.
--
--   dossier import jobs postings.csv.gz --map nyc-job-postings --source nyc --rejects refused.ndjson
--
-- Key: job id and posting type, since a job is posted internally and externally under one id. An
-- empty description, the usual case, is replaced by the work unit and the requirements. Salaries
-- are whole numbers: if a bound is not (hourly rates such as 15.45), both are left out rather than
-- rounded; what is no number (84252,0, as Excel may save it) is refused. Some rows have shifted
-- columns: their posting date is prose, and the import refuses them. Left out: columns that only
-- some exports have, including the date of update.

select
  "Job ID" || '|' || "Posting Type" as key,
  'US-NY' as company_jurisdiction,
  trim("Agency") as company_identifier,
  "Business Title" as title,
  case when trim("Job Description") <> '' then "Job Description"
    else concat_ws(chr(10), nullif("Division/Work Unit", ''), nullif("Minimum Qual Requirements", ''))
  end as description,
  case when is_whole
    then coalesce(try_cast("Salary Range From" as double)::bigint::varchar, "Salary Range From")
  end as salary_from,
  case when is_whole
    then coalesce(try_cast("Salary Range To" as double)::bigint::varchar, "Salary Range To")
  end as salary_to,
  'USD' as currency,
  "Work Location" as location,
  "Posting Date" as created_at,
  source_file,
  source_row
from (
  select
    *,
    coalesce(try_cast("Salary Range From" as double) % 1 = 0, true)
      and coalesce(try_cast("Salary Range To" as double) % 1 = 0, true) as is_whole
  from source
)
