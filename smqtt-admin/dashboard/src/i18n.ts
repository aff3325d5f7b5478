// SPDX-License-Identifier: Apache-2.0
import en from './lang/en.json'

export type Key = keyof typeof en
type Table = Record<Key, string>

/** The languages, each named in itself. */
export const LANGUAGES: Record<string, string> = { en: 'English', de: 'Deutsch', zh: '中文' }

const KEY = 'smqtt.language'
const LOADERS: Record<string, () => Promise<{ default: Table }>> = {
  de: () => import('./lang/de.json'),
  zh: () => import('./lang/zh.json'),
}

let table: Table = en
export let language = 'en'

function wanted(): string {
  const chosen = localStorage.getItem(KEY)
  if (chosen && chosen in LANGUAGES) return chosen
  return navigator.languages.map(tag => tag.slice(0, 2)).find(tag => tag in LANGUAGES) ?? 'en'
}

/** Loads the table of the language that the user has chosen, or that the browser asks for. */
export async function loadLanguage(): Promise<void> {
  language = wanted()
  const load = LOADERS[language]
  table = load ? (await load()).default : en
  document.documentElement.lang = language
}

export function chooseLanguage(name: string): void {
  localStorage.setItem(KEY, name)
  location.reload()
}

/** The text of a key, with {0}, {1} … replaced. */
export function t(key: Key, ...values: (string | number)[]): string {
  return table[key].replace(/\{(\d)\}/g, (_, i) => String(values[Number(i)] ?? ''))
}

/** The text of a key that may be unknown, such as a drop reason of a newer broker. */
export function tOr(key: string, other: string): string {
  return key in table ? t(key as Key) : other
}
