/** The type of a text column, compared by its bytes as in SQLite. */
export const text = 'text collate "C"'
