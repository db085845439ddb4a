// The words of the demonstration: companies, people and places that do not exist.

/** What a made-up country is made of. */
export interface Vocabulary {
  readonly jurisdiction: string
  readonly currency: string
  readonly companyNames: readonly string[]
  readonly companyKinds: readonly string[]
  /** Puts a company's name together from its parts. */
  readonly companyForm: (name: string, kind: string, form: string) => string
  readonly legalForms: readonly string[]
  readonly givenNames: readonly string[]
  readonly familyNames: readonly string[]
  readonly isFamilyNameFirst: boolean
  readonly positions: readonly string[]
  readonly streets: readonly string[]
  readonly cities: readonly string[]
  readonly jobs: readonly string[]
  readonly jobDescriptions: readonly string[]
  readonly banks: readonly string[]
  readonly brands: readonly string[]
}

const english: Vocabulary = {
  jurisdiction: 'GB',
  currency: 'GBP',
  companyNames: [
    'Northwind',
    'Bramblegate',
    'Saltmarsh',
    'Fernhollow',
    'Kestrel',
    'Oakmere',
    'Tidewater',
    'Harrowby',
  ],
  companyKinds: [
    'Trading',
    'Logistics',
    'Instruments',
    'Bakeries',
    'Software',
    'Marine',
    'Textiles',
    'Foods',
  ],
  companyForm: (name, kind, form) => `${name} ${kind} ${form}`,
  legalForms: ['Ltd', 'plc', 'LLP'],
  givenNames: ['Alice', 'Rowan', 'Imogen', 'Callum', 'Priya', 'Edith', 'Owen', 'Tamsin'],
  familyNames: [
    'Ashdown',
    'Merrick',
    'Pellow',
    'Stanhope',
    'Okafor',
    'Thorne',
    'Wexley',
    'Yardley',
  ],
  isFamilyNameFirst: false,
  positions: ['Director', 'Company secretary', 'Finance director', 'Head of operations'],
  streets: ['Quay Street', 'Mill Lane', 'Station Road', 'Cooper’s Row'],
  cities: ['Felixstowe', 'Harborough Cross', 'Eastmere', 'Lower Wick'],
  jobs: ['Warehouse supervisor', 'Software engineer', 'Night baker', 'Payroll clerk'],
  jobDescriptions: [
    'Leads a shift of twelve.',
    'Full time, permanent; "hands-on" experience wanted.',
  ],
  banks: ['Harbour Bank', 'Bank of the Fens'],
  brands: ['NORTHWIND', 'SALT & MARSH', 'Kestrel Eye', 'TIDEWATER 360'],
}

const german: Vocabulary = {
  jurisdiction: 'DE',
  currency: 'EUR',
  companyNames: ['Müllerbach', 'Sternwald', 'Größenau', 'Föhrenthal', 'Lindenhof', 'Überlandt'],
  companyKinds: ['Maschinenbau', 'Feinkost', 'Datentechnik', 'Möbelwerke', 'Verlag'],
  companyForm: (name, kind, form) => `${name} ${kind} ${form}`,
  legalForms: ['GmbH', 'AG', 'GmbH & Co. KG'],
  givenNames: ['Jürgen', 'Käthe', 'Sören', 'Annegret', 'Björn', 'Leyla'],
  familyNames: ['Groß', 'Schäfer', 'Köhler', 'Wünsche', 'Demirbaş', 'Vogelsang'],
  isFamilyNameFirst: false,
  positions: ['Geschäftsführer', 'Prokuristin', 'Vorstand', 'Aufsichtsrätin'],
  streets: ['Lindenstraße', 'Am Mühlgraben', 'Schloßallee'],
  cities: ['Neustadt an der Werre', 'Bad Föhren', 'Großau'],
  jobs: ['Schichtleiterin', 'Mechatroniker', 'Buchhalterin'],
  jobDescriptions: [
    'Unbefristet, 38 Stunden; Führerschein erwünscht.',
    'Sie prüfen, wir bezahlen.',
  ],
  banks: ['Sparkasse Werretal', 'Bankhaus Überlandt'],
  brands: ['STERNWALD', 'Größe 1', 'Feinkost Föhrenthal'],
}

const russian: Vocabulary = {
  jurisdiction: 'RU',
  currency: 'RUB',
  companyNames: ['Северный ветер', 'Заря', 'Берёзовая роща', 'Полюс', 'Радуга', 'Ясный день'],
  companyKinds: ['Логистика', 'Приборы', 'Хлебозавод', 'Софт', 'Текстиль'],
  companyForm: (name, kind, form) => `${form} «${name} ${kind}»`,
  legalForms: ['ООО', 'АО', 'ПАО'],
  givenNames: ['Анна', 'Борис', 'Вера', 'Глеб', 'Дарья', 'Егор'],
  familyNames: ['Лебеденко', 'Журавль', 'Соколик', 'Полевая', 'Речная'],
  isFamilyNameFirst: true,
  positions: ['Генеральный директор', 'Главный бухгалтер', 'Заместитель директора'],
  streets: ['ул. Набережная', 'пер. Садовый', 'Северный проспект'],
  cities: ['Новореченск', 'Верхнеозёрск', 'Ясногорье'],
  jobs: ['Кладовщик', 'Инженер-программист', 'Пекарь'],
  jobDescriptions: ['Полная занятость, смена 12 часов.', 'Опыт работы от трёх лет.'],
  banks: ['Речной банк', 'Банк «Полюс»'],
  brands: ['СЕВЕРНЫЙ ВЕТЕР', 'Заря-2', 'ПОЛЮС'],
}

const chinese: Vocabulary = {
  jurisdiction: 'TW',
  currency: 'TWD',
  companyNames: ['北風', '青竹', '晨星', '和泰源', '明月', '大溪谷'],
  companyKinds: ['物流', '精密儀器', '食品', '軟體', '紡織'],
  companyForm: (name, kind, form) => `${name}${kind}${form}`,
  legalForms: ['有限公司', '股份有限公司'],
  givenNames: ['雅婷', '志明', '淑芬', '家豪', '怡君'],
  familyNames: ['林', '陳', '歐陽', '黃', '鄭'],
  isFamilyNameFirst: true,
  positions: ['董事長', '經理', '監察人', '工廠負責人'],
  streets: ['中山路', '竹林街', '晨光巷'],
  cities: ['青溪市', '月潭鎮', '竹北新區'],
  jobs: ['倉儲主管', '軟體工程師', '麵包師傅'],
  jobDescriptions: ['全職，輪班，供餐。', '需三年以上經驗。'],
  banks: ['青溪銀行', '晨星信託'],
  brands: ['北風', '晨星牌', '大溪谷𠮷'],
}

const arabic: Vocabulary = {
  jurisdiction: 'AE',
  currency: 'AED',
  companyNames: ['رياح الشمال', 'نخلة الواحة', 'نجمة الصباح', 'المرفأ', 'الغدير'],
  companyKinds: ['للتجارة', 'للخدمات اللوجستية', 'للبرمجيات', 'للأغذية'],
  companyForm: (name, kind, form) => `${form} ${name} ${kind}`,
  legalForms: ['شركة', 'مؤسسة'],
  givenNames: ['ليلى', 'سامر', 'نور', 'خالد', 'هدى'],
  familyNames: ['النخيلي', 'البحري', 'الغديري', 'الواحي'],
  isFamilyNameFirst: false,
  positions: ['المدير العام', 'المدير المالي', 'أمين السر'],
  streets: ['شارع المرفأ', 'طريق النخيل', 'زقاق الصباح'],
  cities: ['مدينة الغدير', 'الواحة الجديدة'],
  jobs: ['مشرف مستودع', 'مهندس برمجيات', 'محاسب'],
  jobDescriptions: ['دوام كامل مع سكن.', 'خبرة ثلاث سنوات على الأقل.'],
  banks: ['مصرف المرفأ', 'بنك الواحة'],
  brands: ['رياح الشمال', 'نجمة', 'واحة ٣٦٠'],
}

export const vocabularies: readonly Vocabulary[] = [english, german, russian, chinese, arabic]
