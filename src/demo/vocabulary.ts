// The words of the demo: companies, people and places that do not exist.

/** The words and name patterns of a fictitious country. */
export interface Vocabulary {
  readonly jurisdiction: string
  readonly currency: string
  /** A company's own name is a stem followed directly by an ending. */
  readonly nameStems: readonly string[]
  readonly nameEndings: readonly string[]
  readonly trades: readonly string[]
  readonly legalForms: readonly string[]
  /** Builds a company's full name. */
  readonly companyName: (name: string, trade: string, legalForm: string) => string
  readonly givenNames: readonly string[]
  readonly familyNames: readonly string[]
  /** Builds a person's name. */
  readonly personName: (given: string, family: string) => string
  readonly positions: readonly string[]
  readonly streets: readonly string[]
  readonly cities: readonly string[]
  readonly address: (street: string, number: number, city: string) => string
  readonly jobs: readonly string[]
  readonly jobDescriptions: readonly string[]
  readonly banks: readonly string[]
  /** Builds the name of a right from the company's own name and a product line. */
  readonly rightName: (name: string, line: string) => string
  readonly lines: readonly string[]
}

function list(text: string): readonly string[] {
  return text.split(', ')
}

const english: Vocabulary = {
  jurisdiction: 'GB',
  currency: 'GBP',
  nameStems: list(
    'Bramble, Fern, Wren, Thistle, Otter, Sorrel, Lark, Heron, Plover, Teasel, Yarrow, Dun',
  ),
  nameEndings: list('hollow, mere, combe, stow, marsh, wick, haven, thwaite, garth, beck'),
  trades: list(
    'Trading, Logistics, Instruments, Bakeries, Software, Marine, Textiles, Foods, Print & Paper',
  ),
  legalForms: ['Ltd', 'plc', 'LLP'],
  companyName: (name, trade, legalForm) => `${name} ${trade} ${legalForm}`,
  givenNames: list(
    'Alice, Rowan, Imogen, Callum, Priya, Edith, Owen, Tamsin, Zoë, Kwame, Niamh, Siân, Harris',
  ),
  familyNames: list(
    'Ashdown, Merrick, Pellow, Stanhope, Okafor, Thorne, Wexley, Yardley, O’Dell, Smythe-Parr',
  ),
  personName: (given, family) => `${given} ${family}`,
  positions: list(
    'Director, Company secretary, Finance director, Head of operations, Works manager, Clerk',
  ),
  streets: list('Quay Street, Mill Lane, Station Road, Cooper’s Row, Saltern Way, Church Walk'),
  cities: list('Harborough Cross, Eastmere, Lower Wick, Port Sorrel, Thistlebridge'),
  address: (street, number, city) => `${number} ${street}, ${city}`,
  jobs: list('Warehouse supervisor, Software engineer, Night baker, Payroll clerk, Ship’s cook'),
  jobDescriptions: [
    'Leads a shift of twelve.',
    'Full time, permanent; "hands-on" experience wanted.',
    'Hybrid: two days a week on site.\nWrite to the works manager.',
  ],
  banks: ['Saltern Bank', 'Bank of the Fens', 'Thistlebridge Mutual'],
  rightName: (name, line) => `${name.toUpperCase()} ${line}`,
  lines: list('360, Gold & Salt, Home, “Original”, Nº 5, Eye'),
}

const german: Vocabulary = {
  jurisdiction: 'DE',
  currency: 'EUR',
  nameStems: list('Wachtel, Möwen, Süßen, Größen, Quitten, Überl, Zwirn, Löffel, Dachsel, Krähen'),
  nameEndings: list('walde, thal, hof, brück, ried, stieg, horn, lohe'),
  trades: list('Maschinenbau, Feinkost, Datentechnik, Möbelwerke, Verlag, Gießerei, Spedition'),
  legalForms: ['GmbH', 'AG', 'GmbH & Co. KG'],
  companyName: (name, trade, legalForm) => `${name} ${trade} ${legalForm}`,
  givenNames: list('Jürgen, Käthe, Sören, Annegret, Björn, Leyla, Götz, Renée, Ulrike, Marek'),
  familyNames: list('Groß, Schäfer, Köhler, Wünsche, Demirbaş, Vogelsang, Nowak, von der Au'),
  personName: (given, family) => `${given} ${family}`,
  positions: list(
    'Geschäftsführer, Prokuristin, Vorstand, Aufsichtsrätin, Meister, Sachbearbeiter',
  ),
  streets: list('Lindenstraße, Am Mühlgraben, Schloßallee, Krumme Gasse, Hinterm Deich'),
  cities: list('Neustadt an der Werbe, Bad Föhren, Großenried, Möwenhafen'),
  address: (street, number, city) => `${street} ${number}, ${city}`,
  jobs: list('Schichtleiterin, Mechatroniker, Buchhalterin, Gießer, Fahrerin'),
  jobDescriptions: [
    'Unbefristet, 38 Stunden; Führerschein erwünscht.',
    'Sie prüfen, wir bezahlen.',
  ],
  banks: ['Bankhaus Überlhof', 'Werbetaler Volkskasse'],
  rightName: (name, line) => `${name.toUpperCase()} ${line}`,
  lines: list('Größe 1, Spezial, „Das Echte“, plus, Öko'),
}

const spanish: Vocabulary = {
  jurisdiction: 'ES',
  currency: 'EUR',
  nameStems: list('Peña, Cigüeña, Olmo, Jara, Roble, Añada, Garza, Espliego, Tomillo'),
  nameEndings: ['rrubia', 'lén', 'negra', 'viva', ' del Río', ' y Luna', ' Alta', ' Blanca'],
  trades: list('Conservas, Transportes, Cerámica, Informática, Viñedos, Tejidos, Imprenta'),
  legalForms: ['S.L.', 'S.A.', 'S. Coop.'],
  companyName: (name, trade, legalForm) => `${trade} ${name}, ${legalForm}`,
  givenNames: list('Íñigo, Begoña, Raúl, Concha, Xoán, Núria, Óscar, Lucía, Ángel'),
  familyNames: list('Ibáñez, Muñiz, Larrañaga, Peñalba, Güell, Ordóñez, Carreño, Sáez'),
  personName: (given, family) => `${given} ${family}`,
  positions: list('Administradora única, Consejero delegado, Apoderada, Jefe de taller, Contable'),
  streets: list('Calle del Agua, Avenida de la Jara, Plaza del Olmo, Camino Viejo'),
  cities: list('Villaseñor del Río, Peñalarga, Puerto Garza'),
  address: (street, number, city) => `${street}, ${number}, ${city}`,
  jobs: list('Encargada de almacén, Programador, Enólogo, Ceramista'),
  jobDescriptions: ['Jornada completa; ¿te unes?', 'Se valorará la experiencia en viñedo propio.'],
  banks: ['Caja de Peñalarga', 'Banco Garza'],
  rightName: (name, line) => `${name} ${line}`,
  lines: list('Añejo, Selección, Niña, 1881, Única'),
}

const russian: Vocabulary = {
  jurisdiction: 'RU',
  currency: 'RUB',
  nameStems: list('Ясно, Пихто, Тихо, Свето, Верхне, Злато, Ольхо, Дубро, Ветро, Рябино'),
  nameEndings: list('речье, полье, озёрье, горье, лужье, борье, холмье, ключье'),
  trades: list('Логистика, Приборы, Хлебозавод, Программы, Текстиль, Мебель, Лес'),
  legalForms: ['ООО', 'АО', 'ПАО'],
  companyName: (name, trade, legalForm) => `${legalForm} «${name} ${trade}»`,
  givenNames: list('Анна, Борис, Вера, Глеб, Дарья, Егор, Жанна, Пётр, Ульяна, Фёдор'),
  familyNames: list('Лебеденко, Журавель, Соколик, Щегленко, Дрозденко, Чижик, Зябликович'),
  personName: (given, family) => `${family} ${given}`,
  positions: list('Генеральный директор, Главный бухгалтер, Заместитель директора, Технолог'),
  streets: list('ул. Набережная, пер. Садовый, Ольховый проспект, Ветровая ул.'),
  cities: list('Тихореченск-на-Ольхе, Верхнеозёрье, Златогорье'),
  address: (street, number, city) => `${city}, ${street}, д. ${number}`,
  jobs: list('Кладовщик, Инженер-программист, Пекарь, Столяр, Диспетчер'),
  jobDescriptions: ['Полная занятость, смена 12 часов.', 'Опыт работы от трёх лет.'],
  banks: ['Тихореченский банк', 'Банк «Ольха»'],
  rightName: (name, line) => `${name.toUpperCase()} ${line}`,
  lines: list('Люкс, 2-й сорт, «Особое», Ёлочка, Плюс'),
}

const chinese: Vocabulary = {
  jurisdiction: 'TW',
  currency: 'TWD',
  nameStems: list('青鷺, 竹雨, 溪石, 霧松, 鹿鳴, 梅渚, 楓橋, 雲坡, 荷汀, 岩泉'),
  nameEndings: list('源, 豐, 和, 興, 達, 泰, 茂, 昌, 瑞'),
  trades: list('物流, 精密儀器, 食品, 軟體, 紡織, 造紙, 陶瓷'),
  legalForms: ['有限公司', '股份有限公司'],
  companyName: (name, trade, legalForm) => `${name}${trade}${legalForm}`,
  givenNames: list('雅婷, 志明, 淑芬, 家豪, 怡君, 柏翰, 詩涵, 冠宇, 㛢文'),
  familyNames: list('林, 陳, 歐陽, 黃, 鄭, 𠮷田, 蔡, 司徒'),
  personName: (given, family) => `${family}${given}`,
  positions: list('董事長, 經理, 監察人, 廠長, 會計'),
  streets: list('竹林街, 晨光巷, 鷺鷥路, 溪邊一路'),
  cities: list('青溪市, 月潭鎮, 霧松鄉'),
  address: (street, number, city) => `${city}${street}${number}號`,
  jobs: list('倉儲主管, 軟體工程師, 麵包師傅, 司機, 陶藝師'),
  jobDescriptions: ['全職，輪班，供餐。', '需三年以上經驗。'],
  banks: ['青溪銀行', '月潭信用合作社'],
  rightName: (name, line) => `${name}${line}`,
  lines: list('牌, 金標, 壹號, 𠮷選, 家居'),
}

const arabic: Vocabulary = {
  jurisdiction: 'AE',
  currency: 'AED',
  nameStems: list('نخلة, نجمة, واحة, ساقية, مرساة, نسمة, قافلة, لؤلؤة'),
  nameEndings: [' الصباح', ' الشمال', ' الغدير', ' الرمال', ' السنونو', ' الربيع', ' التلال'],
  trades: list('للتجارة, للخدمات اللوجستية, للبرمجيات, للأغذية, للمنسوجات, للطباعة'),
  legalForms: ['شركة', 'مؤسسة'],
  companyName: (name, trade, legalForm) => `${legalForm} ${name} ${trade}`,
  givenNames: list('ليلى, سامر, نور, خالد, هدى, ياسمين, طارق, رؤى'),
  familyNames: list('النخيلي, البحري, الغديري, الواحي, السنونو, المرساوي'),
  personName: (given, family) => `${given} ${family}`,
  positions: list('المدير العام, المدير المالي, أمين السر, محاسبة, مشرف'),
  streets: list('شارع المرساة, طريق القوافل, زقاق الصباح'),
  cities: list('مدينة الغدير, الواحة الجديدة, تل السنونو'),
  address: (street, number, city) => `${street} ${number}، ${city}`,
  jobs: list('مشرف مستودع, مهندس برمجيات, محاسب, سائقة'),
  jobDescriptions: ['دوام كامل مع سكن.', 'خبرة ثلاث سنوات على الأقل.'],
  banks: ['مصرف المرساة', 'بنك تل السنونو'],
  rightName: (name, line) => `${name} ${line}`,
  lines: list('٣٦٠, الأصلية, بلس, الذهبية'),
}

/** The fictitious countries; the companies in the banner are of the first one. */
export const vocabularies: readonly Vocabulary[] = [
  english,
  german,
  spanish,
  russian,
  chinese,
  arabic,
]
