// The words of the demo: companies, people and places that do not exist, in four scripts.

import type { Random } from './random.ts'

/** Texts by the name of what they say; `{name}` in one stands for a text with this name. */
export type Words = Readonly<Record<string, readonly string[]>>

/** Picks a text with a name, and texts for the names in it. */
export function say(random: Random, words: Words, name: string): string {
  const text = random.pick(words[name] ?? [])
  if (!text.includes('{')) return text
  return text.replaceAll(/\{(\w+)\}/g, (_, inner: string) => say(random, words, inner))
}

function wordsFrom(texts: Readonly<Record<string, string>>): Words {
  return Object.fromEntries(Object.entries(texts).map(([name, all]) => [name, all.split('|')]))
}

/** What is the same in all countries; what occurs several times is more frequent. */
const everywhere = {
  number: '3|7|12|18|24|31|36|45|58|60|75|82|96|118|140|203',
  right: '{own} {line}',
  right_kind: 'trademark|patent|design|utility_model',
  right_status: 'registered|registered|registered|pending|expired|opposed',
  terminal_status: 'active|active|active|suspended|closed',
  attr: 'address|address|address|officers|officers|officers|status|share_capital|activity',
  officers: '{person}',
  status: 'active|dormant|in liquidation|under audit',
  share_capital: '{number}000 {currency}',
  activity: '{trade}',
}

const english = {
  jurisdiction: 'GB',
  currency: 'GBP',
  own: '{stem}{ending}',
  stem: 'Bramble|Fern|Wren|Thistle|Otter|Sorrel|Lark|Heron|Curlew|Teasel|Yarrow|Dun',
  ending: 'hollow|mere|combe|stow|marsh|wick|haven|thwaite|garth|beck',
  company: '{own} {trade} {form}',
  trade: 'Trading|Logistics|Instruments|Bakeries|Software|Marine|Textiles|Foods|Print & Paper',
  form: 'Ltd|plc|LLP',
  person: '{given} {family}',
  given: 'Alice|Rowan|Imogen|Callum|Priya|Edith|Owen|Tamsin|Zoë|Kwame|Niamh|Siân|Jürgen|Leyla',
  family: 'Ashdown|Merrick|Pellow|Okafor|Thorne|Wexley|Demirbaş|O’Dell|Smythe-Parr|von der Au',
  position: 'Director|Company secretary|Finance director|Head of operations|Works manager|Clerk',
  address: '{number} {street}, {city}',
  street: 'Quay Street|Mill Lane|Station Road|Cooper’s Row|Saltern Way|Church Walk',
  city: 'Harborough Cross|Eastmere|Lower Wick|Port Sorrel|Thistlebridge',
  job: 'Warehouse supervisor|Software engineer|Night baker|Payroll clerk|Ship’s cook',
  task:
    'Leads a shift of twelve.|Full time, permanent; "hands-on" experience wanted.|' +
    'Hybrid: two days a week on site.\nWrite to the works manager.',
  bank: 'Saltern Bank|Bank of the Fens|Thistlebridge Mutual',
  line: '360|Gold & Salt|Home|“Original”|Nº 5|Eye',
}

const russian = {
  jurisdiction: 'RU',
  currency: 'RUB',
  own: '{stem}{ending}',
  stem: 'Ясно|Пихто|Тихо|Свето|Верхне|Злато|Ольхо|Дубро|Ветро|Рябино',
  ending: 'речье|полье|озёрье|горье|лужье|борье|холмье|ключье',
  company: '{form} «{own} {trade}»',
  trade: 'Логистика|Приборы|Хлебозавод|Программы|Текстиль|Мебель|Лес',
  form: 'ООО|АО|ПАО',
  person: '{family} {given}',
  given: 'Анна|Борис|Вера|Глеб|Дарья|Егор|Жанна|Пётр|Ульяна|Фёдор',
  family: 'Лебеденко|Журавель|Соколик|Щегленко|Дрозденко|Чижик|Зябликович',
  position: 'Генеральный директор|Главный бухгалтер|Заместитель директора|Технолог',
  address: '{city}, {street}, д. {number}',
  street: 'ул. Набережная|пер. Садовый|Ольховый проспект|Ветровая ул.',
  city: 'Тихореченск-на-Ольхе|Верхнеозёрье|Златогорье',
  job: 'Кладовщик|Инженер-программист|Пекарь|Столяр|Диспетчер',
  task: 'Полная занятость, смена 12 часов.|Опыт работы от трёх лет.',
  bank: 'Тихореченский банк|Банк «Ольха»',
  line: 'Люкс|2-й сорт|«Особое»|Ёлочка|Плюс',
}

const chinese = {
  jurisdiction: 'TW',
  currency: 'TWD',
  own: '{stem}{ending}',
  stem: '青鷺|竹雨|溪石|霧松|鹿鳴|梅渚|楓橋|雲坡|荷汀|岩泉',
  ending: '源|豐|和|興|達|泰|茂|昌|瑞',
  company: '{own}{trade}{form}',
  trade: '物流|精密儀器|食品|軟體|紡織|造紙|陶瓷',
  form: '有限公司|股份有限公司',
  person: '{family}{given}',
  given: '雅婷|志明|淑芬|家豪|怡君|柏翰|詩涵|冠宇|㛢文',
  family: '林|陳|歐陽|黃|鄭|𠮷田|蔡|司徒',
  position: '董事長|經理|監察人|廠長|會計',
  address: '{city}{street}{number}號',
  street: '竹林街|晨光巷|鷺鷥路|溪邊一路',
  city: '青溪市|月潭鎮|霧松鄉',
  job: '倉儲主管|軟體工程師|麵包師傅|司機|陶藝師',
  task: '全職，輪班，供餐。|需三年以上經驗。',
  bank: '青溪銀行|月潭信用合作社',
  line: '牌|金標|壹號|𠮷選|家居',
}

const arabic = {
  jurisdiction: 'AE',
  currency: 'AED',
  own: '{stem} {ending}',
  stem: 'نخلة|نجمة|واحة|ساقية|مرساة|نسمة|قافلة|لؤلؤة',
  ending: 'الصباح|الشمال|الغدير|الرمال|السنونو|الربيع|التلال',
  company: '{form} {own} {trade}',
  trade: 'للتجارة|للخدمات اللوجستية|للبرمجيات|للأغذية|للمنسوجات|للطباعة',
  form: 'شركة|مؤسسة',
  person: '{given} {family}',
  given: 'ليلى|سامر|نور|خالد|هدى|ياسمين|طارق|رؤى',
  family: 'النخيلي|البحري|الغديري|الواحي|السنونو|المرساوي',
  position: 'المدير العام|المدير المالي|أمين السر|محاسبة|مشرف',
  address: '{street} {number}، {city}',
  street: 'شارع المرساة|طريق القوافل|زقاق الصباح',
  city: 'مدينة الغدير|الواحة الجديدة|تل السنونو',
  job: 'مشرف مستودع|مهندس برمجيات|محاسب|سائقة',
  task: 'دوام كامل مع سكن.|خبرة ثلاث سنوات على الأقل.',
  bank: 'مصرف المرساة|بنك تل السنونو',
  line: '٣٦٠|الأصلية|بلس|الذهبية',
}

/** The words of the fictitious countries; the companies in the banner are of the first one. */
export const countries: readonly Words[] = [english, russian, chinese, arabic].map((country) =>
  wordsFrom({ ...everywhere, ...country }),
)
