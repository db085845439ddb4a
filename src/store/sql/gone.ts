// What the merge of a resource's records looks at in several places.

/** The places of what no longer stands as it was: removed, or to be replaced. */
export const gone = `(
      select company_id, position from removal
      union all
      select company_id, position from change where position is not null
    )`
