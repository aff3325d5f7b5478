// SPDX-License-Identifier: Apache-2.0
import { language } from './i18n'

const cache = new Map<string, Intl.NumberFormat>()

function numbers(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options)
  let format = cache.get(key)
  if (!format) cache.set(key, (format = new Intl.NumberFormat(language, options)))
  return format
}

const known = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

export const count = (value?: number | null) => (known(value) ? numbers({ maximumFractionDigits: 0 }).format(value) : '–')
export const rate = (value?: number | null) =>
  known(value) ? numbers({ maximumFractionDigits: value < 10 ? 1 : 0 }).format(value) : '–'
export const short = (value?: number | null) =>
  known(value) ? numbers({ notation: 'compact', maximumFractionDigits: 1 }).format(value) : '–'
export const percent = (value?: number | null) =>
  known(value) ? numbers({ style: 'percent', maximumFractionDigits: 1 }).format(value) : '–'

export function bytes(value?: number | null): string {
  if (!known(value)) return '–'
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(value))) / 10)))
  const unit = ['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]
  return numbers({ maximumFractionDigits: power ? 1 : 0 }).format(value / 1024 ** power) + ' ' + unit
}

/** A duration in seconds, by its two greatest units. */
export function duration(seconds?: number | null): string {
  if (!known(seconds)) return '–'
  const units: [string, number][] = [['d', 86_400], ['h', 3_600], ['min', 60], ['s', 1]]
  const from = units.findIndex(([, size]) => seconds >= size)
  if (from < 0) return '0 s'
  let rest = Math.floor(seconds)
  const texts: string[] = []
  for (const [name, size] of units.slice(from, from + 2)) {
    const n = Math.floor(rest / size)
    rest -= n * size
    if (n) texts.push(`${n} ${name}`)
  }
  return texts.join(' ')
}

/** A moment: ISO text, or milliseconds. */
export function moment(value?: string | number | null): string {
  if (value === undefined || value === null || value === '') return '–'
  const date = new Date(/^\d+$/.test(String(value)) ? Number(value) : value)
  return Number.isNaN(date.getTime())
    ? String(value)
    : date.toLocaleString(language, { dateStyle: 'short', timeStyle: 'medium' })
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g
const LONGEST = 200

/** Makes characters visible that would be hidden, or turn the text around. */
export const plain = (text: string) => text.replace(HIDDEN, c => `\\u{${c.charCodeAt(0).toString(16)}}`)

/** The same, cut for a list. */
export const clipped = (text: string) =>
  text.length <= LONGEST ? plain(text) : `${plain(text.slice(0, LONGEST))}… (${count(text.length)})`

/** Bytes of base64. */
export function decode64(text: string): Uint8Array {
  const raw = atob(text)
  return Uint8Array.from(raw, c => c.charCodeAt(0))
}

export function hex(data: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < data.length; at += 16) {
    const row = [...data.subarray(at, at + 16)]
    const codes = row.map(b => b.toString(16).padStart(2, '0')).join(' ')
    const text = row.map(b => (b > 31 && b < 127 ? String.fromCharCode(b) : '.')).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${codes.padEnd(47)}  ${text}`)
  }
  return lines.join('\n')
}

/** The payload as text, or null if it is not UTF-8. */
export function text(data: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data)
  } catch {
    return null
  }
}

/** The payload as indented JSON, or null if it is none. */
export function pretty(data: Uint8Array): string | null {
  try {
    const value = JSON.parse(text(data) ?? '')
    return JSON.stringify(value, null, 2)
  } catch {
    return null
  }
}
