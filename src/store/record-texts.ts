// How records' texts are joined: as they are served, with commas between them.

/**
 * What begins every record but the first of joined texts. It cannot be within a record: a quotation
 * mark in a JSON string follows a backslash, and what follows the end of a string is not a letter.
 */
export const recordSeparator = ',{"id":'
