-- New York City's job postings, a narrow export of 2022 with seven columns (CSV), as jobs; the
-- company is the agency.
--
--   dossier import jobs NYC_Jobs.csv --map nyc-job-postings-2022 --source nyc-2022
--
-- Key: job id, posting type, and the number of the row among those with both, since they are not
-- unique and the export lacks the columns that distinguish its rows. The title is the civil service
-- title, the only one in the export, and the description is the job category. Salaries are as in
-- nyc-job-postings.sql. The export has no place and no date.

select
  "Job ID" || '|' || "Posting Type" || '|' || copy as key,
  'US-NY' as company_jurisdiction,
  trim("Agency") as company_identifier,
  "Civil Service Title" as title,
  "Job Category" as description,
  case when is_whole
    then coalesce(try_cast("Salary Range From" as double)::bigint::varchar, "Salary Range From")
  end as salary_from,
  case when is_whole
    then coalesce(try_cast("Salary Range To" as double)::bigint::varchar, "Salary Range To")
  end as salary_to,
  'USD' as currency,
  source_file,
  source_row
from (
  select
    *,
    row_number() over (partition by "Job ID", "Posting Type" order by source_row) as copy,
    coalesce(try_cast("Salary Range From" as double) % 1 = 0, true)
      and coalesce(try_cast("Salary Range To" as double) % 1 = 0, true) as is_whole
  from source
)
order by source_file, source_row
