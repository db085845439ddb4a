// Every text of the explorer, in English. A translation is another file of this form.

export const language = 'en-GB'

const numbers = new Intl.NumberFormat(language)
const format = (count: number) => numbers.format(count)

const plural = (count: number, one: string, many: string) =>
  `${format(count)} ${count === 1 ? one : many}`

/** A title within a sentence: "rights", but "POS terminals". */
export const inSentence = (title: string): string =>
  /^\p{Lu}{2}/u.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1)

export const texts = {
  product: 'Dossier',
  skip: 'Skip to content',
  reference: 'API reference',
  guide: 'Guide',
  forgetKey: 'Forget key',
  more: 'more',
  less: 'less',
  notKnown: 'not known',
  loading: 'Loading …',
  awaited: '…',

  // The first page.
  welcome: 'Look up a company',
  about:
    'This service holds company data from registers: rights, people, jobs, terminals and every ' +
    'recorded change. Look up a company here, or get the same data over HTTP.',
  keyTitle: 'Your key',
  keyHint: 'It starts with dossier_ and is issued by the operator of this service.',
  keyKeep: 'Keep it for this browser session',
  keyKeepHint:
    'New tabs and reloads use it until you forget it or close the last tab of this page.',
  keepKey: 'Keep key',
  keyUse: 'Open',
  keyUnlike: 'This cannot be a key: a key is one word without spaces.',
  search: 'Name or number of a company',
  searchHint: 'Words of the name, a register number such as 09876543 or GB:09876543, or an ID.',
  searchKeys: 'Press / to search from anywhere.',
  searchShort: 'Find a company',
  searching: 'Searching …',
  found: (count: number) => plural(count, 'company', 'companies'),
  foundShown: (shown: string, count: number) =>
    `The first ${shown} of ${plural(count, 'company', 'companies')}`,
  foundMore: 'Show more',
  unsearchable:
    'This key may not search for companies. Enter the ID of a company, or its register number ' +
    'such as GB:09876543, to open what the key may read.',
  foundNone: 'No company has this name or number. Try fewer or other words.',
  recent: 'Recently opened in this tab',
  nameless: (id: number | string) => `Company ${id}`,

  // A company.
  overview: 'Overview',
  number: 'Number',
  idLabel: 'ID',
  sinceDay: (day: string) => `since ${day}`,
  unlistedAll: (isPast: boolean) =>
    isPast ? 'No source listed this company any more.' : 'No source lists this company any more.',
  unlistedBy: (day: string, version: number, isPast: boolean) =>
    `${isPast ? 'had not listed' : 'has not listed'} it since ${day} (version ${version}).`,
  unlistedGrey: 'Its former values are grey.',
  sourcesTitle: 'What each source says',
  sourcesTitlePast: 'What each source said',
  sourcesNone: 'No source gives more about this company than its number.',
  attribute: 'Attribute',
  lastChange: 'Last change',
  inVersion: (version: number) => `version ${version}`,
  extract: 'Newest extract',
  imported: 'Imported',
  presence: 'Lists the company',
  presencePast: 'Listed the company',
  yes: 'Yes',
  noLonger: 'No longer',
  differs: 'differs',
  listingsTitle: 'On record',
  listingsTitlePast: 'On record then',
  records: (count: number) => plural(count, 'record', 'records'),
  listingForbidden: 'This key may not read it.',
  listingEmpty: 'None on record',
  plural: (title: string) => `${title}s`,
  counted: (count: number, title: string) =>
    plural(count, inSentence(title), `${inSentence(title)}s`),
  companySections: 'What is on record',

  // A listing.
  emptyListing: (what: string, isPast: boolean) =>
    `This company ${isPast ? 'had' : 'has'} no ${what} on record.`,
  freshness: (source: string, days: string) => `Newest from ${source}: ${days}`,
  emptySelection: 'No record matches these filters.',
  pastEnd: 'This is past the last page.',
  toLastPage: 'Go to the last page',
  clearFilters: 'Clear filters',
  filters: 'Filters',
  filterApply: 'Apply',
  filterClear: 'Clear',
  filterFrom: 'From',
  filterTo: 'To',
  filterAfter: 'After',
  filterBefore: 'Before',
  filterValue: 'Exactly this value',
  filterOthers: 'Another value',
  remove: (what: string) => `Remove the filter ${what}`,
  currentOn: 'On the day',
  shown: (first: string, last: string, count: string) => `${first}–${last} of ${count}`,
  filteredOf: (count: string) => ` (${count} without filters)`,
  pages: 'Pages',
  firstPage: 'First page',
  previousPage: 'Previous page',
  nextPage: 'Next page',
  lastPage: 'Last page',
  pageNumber: (count: string) => `Page, of ${count}`,
  perPage: 'per page',
  sortBy: (field: string) => `Order by ${field}`,
  sameInAll: 'The same in all rows:',
  scrollHint: 'More columns to the right →',
  tableOf: (what: string, company: string) => `${what} of ${company}`,
  goneSince: 'Gone since',
  changedSince: 'Changed since',
  now: 'now',

  // Pictures.
  pictureHide: 'Hide chart',
  pictureShow: 'Show chart',
  pictureData: 'Data as a table',
  pictureTimeline: 'Changes over time',
  picturePeriods: (what: string) => `${what} over time`,
  pictureYears: (field: string) => `${field} by year`,
  pictureKeys: 'Use the arrow keys to read the values.',
  zoomHint: 'Drag over a period to zoom in.',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  earlier: 'Earlier',
  later: 'Later',
  wholeTime: 'Show all',
  onDay: (day: string, count: string) => `On ${day}: ${count}`,
  onDayHint: 'Click a day, or press Enter, to list only the records of that day.',
  andMore: (count: number) => `and ${format(count)} more`,
  open: 'no end',
  year: 'Year',
  count: 'Number',
  kind: 'Kind',
  sum: 'Total',
  firstOnly: (shown: string, count: string) =>
    `Only the first ${shown} of ${count} records are drawn; filters narrow them down.`,
  drawnOnly: (shown: string, count: string) =>
    `Bars are drawn for the first ${shown} of ${count}; the line above counts all.`,
  span: (from: string, to: string) => (from === to ? `on ${from}` : `from ${from} to ${to}`),
  timelineSays: (count: number, kinds: number, span: string) =>
    `${plural(count, 'change', 'changes')} of ${plural(kinds, 'kind', 'kinds')}, ${span}.`,
  timelineMost: (kind: string, count: string) => ` Most often: ${kind} (${count}).`,
  timelineSaysAll: (count: number, span: string) =>
    `${plural(count, 'change', 'changes')}, ${span}.`,
  timelineDays: (days: number) => ` Each bar counts ${plural(days, 'day', 'days')}.`,
  timelineKinds: (kinds: string) => ` By kind: ${kinds}.`,
  timelineEqual: (max: string) =>
    ' All bars stand for the same number of changes: a higher one means more frequent changes. ' +
    `Choose a bar, or drag over a period, to zoom in; up to ${max} changes are drawn by kind.`,
  timelineOthers: (count: number) =>
    ` ${plural(count, 'kind', 'kinds')} with fewer changes are not drawn.`,
  allKinds: 'All kinds',
  bar: (kind: string, count: number, span: string) =>
    `${kind}: ${plural(count, 'change', 'changes')} ${span}`,
  barChoose: 'Click, or press Enter, to zoom in.',
  periodsSays: (count: string, most: string, day: string) =>
    `${count}; most at a time: ${most}, on ${day}.`,
  periodsUndated: (count: number) =>
    `${plural(count, 'record', 'records')} without a first day: counted, but without a bar.`,
  yearsSays: (count: string, from: string, to: string, most: string, mostCount: string) =>
    from === to
      ? `${count} dated ${from}.`
      : `${count} dated from ${from} to ${to}; most in ${most} (${mostCount}).`,
  yearsUndated: (count: number) => `${format(count)} without a date.`,
  yearsOthers: (count: number) => plural(count, 'other value', 'other values'),
  undrawn: (field: string) => `Nothing to draw: no ${inSentence(field)} is known.`,

  // Time.
  time: 'Time',
  timeNow: 'Now',
  timeVersion: (version: number | string) => `Version ${version}`,
  timeSlider: 'Versions that changed this company',
  timeOlder: 'Earlier version',
  timeNewer: 'Later version',
  timeBack: 'Back to now',
  timeLook: 'Look back',
  timeHide: 'Close',
  timeDiffer: 'What has changed since',
  timeOthers: 'Other versions',
  timeMore: 'Look for earlier ones',
  timeDay: 'State as of',
  timeGo: 'Show',
  extractOf: (day: string) => `extract of ${day}`,
  importedAt: (moment: string) => `imported ${moment}`,
  timeImport: (what: string, source: string) => `${what} from ${source}`,
  timeWithheld: (what: string) => `Data withheld: ${what}`,
  timePast: 'You are looking at the past:',
  timeNewest: 'You are looking at the newest version:',
  timePastUnknown: 'You are not looking at the present.',
  timeSame: 'Nothing here differs from now.',
  timeChanges: (changed: number, gone: number, fresh: number) => {
    const counts = Object.entries({ changed, gone, 'new since': fresh })
    const some = counts.filter(([, count]) => count > 0)
    const list = some.map(([what, count]) => `${format(count)} ${what}`)
    return `Compared with now: ${list.join(', ')}.`
  },
  timeTooMany: (count: string) => `What differs from now is not marked in ${count} records.`,
  timeCompare: 'Compare them all',
  timeOne: 'There is no earlier version of this company.',
  between: 'What changed between two versions',
  betweenFrom: 'Earlier version',
  betweenTo: 'Later version',
  betweenNothing: 'Nothing changed.',
  betweenAdded: 'New',
  betweenEither: 'New or changed',
  betweenRemoved: 'Gone',
  betweenChanged: 'Changed',
  betweenMany: (count: number) => `and ${format(count)} more; the listing has them.`,
  betweenAll: (count: number) => `Show all ${plural(count, 'record', 'records')}`,
  betweenTooMany: (what: string) => `More than 10,000 ${what}: too many to compare here.`,
  record: (id: unknown) => `Record ${String(id)}`,
  becomes: 'became',

  // Download and share.
  take: 'Download and share',
  takeLink: 'Link to this view',
  takeLinkHint: 'Your key is not included: the recipient needs their own.',
  takeCurl: 'curl',
  takeFetch: 'fetch, for JavaScript',
  takeVersion: (version: number) => `Pin to version ${version}, even after new imports`,
  takeKeyHint: 'Your key is not included: set it in the variable KEY.',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'Select the text and copy it.',
  download: 'Download',
  downloadPage: (count: string) => `This page, ${count}`,
  downloadAll: (count: string) => `All matching records, ${count}`,
  downloading: 'Downloading …',
  downloadFailed: 'The download failed.',

  // Print.
  print: 'Print',
  printWhole: 'Print the whole company',
  printBack: 'Back to the company',
  printed: (moment: string, address: string) => `Printed ${moment} from ${address}.`,
  printFirst: (count: string) => `The first ${count} records; downloads have all of them.`,

  // What goes wrong.
  offline: 'The service cannot be reached.',
  offlineKept: (moment: string) =>
    'The service cannot be reached. ' +
    `This is what was loaded at ${moment}; the page retries by itself.`,
  offlineNothing: 'The service cannot be reached. The page retries by itself.',
  tryAgain: 'Try again',
  wait: 'This key has no requests left for now. The page continues by itself',
  waitBusy: 'The service is busy. The page continues by itself',
  inSeconds: (seconds: number) => ` in ${plural(seconds, 'second', 'seconds')}`,
  keyRefused: 'The service does not accept this key. It may be incomplete, expired or revoked.',
  forbidden: 'This key may not read this.',
  otherKey: 'Use another key',
  missing: 'This is not in the registry.',
  toStart: 'Find another company',
  reset: 'Reset the view',
  gone: 'This version is no longer kept.',
  invalid: 'The service does not understand this address.',
  fault: 'Something went wrong in the service. Try again; if it happens again, tell its operator.',
  unknownView: 'There is no such section. Choose one of the tabs.',
} as const
