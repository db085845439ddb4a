-- New York City's job postings, a narrow export of 2022 with seven columns (CSV), as jobs; the
-- company is the agency.
--
--   dossier import jobs NYC_Jobs.csv --map nyc-job-postings-2022 --source nyc-2022
--
-- Key: job id, posting type, and which of the rows of these two it is, since they are not unique
-- and the export has cut off what would tell its rows apart. The title is that of the civil service, since the
-- export has no other, and the job category stands in for the description. Salaries as in
-- nyc-job-postings.sql. The export has no place and no date.

select
  "Job ID" || '|' || "Posting Type" || '|' || copy as key,
  'US-NY' as company_jurisdiction,
  trim("Agency") as company_identifier,
  "Civil Service Title" as title,
  "Job Category" as description,
  case when is_whole then try_cast("Salary Range From" as double)::bigint end as salary_from,
  case when is_whole then try_cast("Salary Range To" as double)::bigint end as salary_to,
  'USD' as currency,
  source_file,
  source_row
from (
  select
    *,
    row_number() over (partition by "Job ID", "Posting Type" order by source_row) as copy,
    try_cast("Salary Range From" as double) % 1 = 0
      and try_cast("Salary Range To" as double) % 1 = 0 as is_whole
  from source
)
order by source_file, source_row
