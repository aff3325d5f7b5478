// SPDX-License-Identifier: Apache-2.0
// The part of the address after #: #/clients/sensor-1?tab=queue
import { useEffect, useState } from 'preact/hooks'

export interface Route {
  parts: string[]
  query: URLSearchParams
}

function parse(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  return { parts: path.split('/').map(decode), query: new URLSearchParams(query) }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The link to a page; the parts may be named by clients. */
export function link(parts: string[], query: Record<string, string> = {}): string {
  const text = new URLSearchParams(query).toString()
  return '#/' + parts.map(encodeURIComponent).join('/') + (text ? '?' + text : '')
}

export function go(parts: string[], query?: Record<string, string>): void {
  location.hash = link(parts, query)
}

export function useRoute(): Route {
  const [route, change] = useState(parse)
  useEffect(() => {
    const changed = () => change(parse())
    addEventListener('hashchange', changed)
    return () => removeEventListener('hashchange', changed)
  }, [])
  return route
}
