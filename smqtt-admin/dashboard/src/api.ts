// SPDX-License-Identifier: Apache-2.0
// Calls the REST API of the broker that has served the page.
import { t } from './i18n'
import { enter, session, signOut, type Role } from './session'

/** Whether a name cannot stand in a path. */
export const isDots = (name: string) => name === '.' || name === '..'

/** The address of the API, relative to the page, so that both may be below any path. */
export const API = new URL('../api/v5/', document.baseURI)

/** An answer other than 2xx. The text is the broker's own. */
export class Problem extends Error {
  constructor(readonly status: number, text: string) {
    super(text)
  }
}

export type Query = Record<string, string | number | boolean | undefined | null>

/** Name and value of the header that an application demands with each change, against forged requests. */
let forgery: [string, string] | undefined

/** Builds the address of a path with a query; parameters without a value are left out, but the cursor of the first page. */
export function address(path: string, query: Query = {}): URL {
  const url = new URL(path, API)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && (value !== '' || name === 'cursor')) url.searchParams.set(name, String(value))
  }
  return url
}

/** What servers and proxies before the API refuse in a path even if it is encoded. */
const REFUSED = /[/\\%;]/

/** A path of constant and client-named parts, the latter encoded; one that would be refused in the path is in the query. A browser
 *  takes dots for folders, so that they would name another path. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  if (values.some(isDots)) throw new Error(t('dots'))
  const moved = values.find(value => REFUSED.test(value))
  const all = parts.reduce((all, part, i) => {
    const value = values[i - 1] ?? ''
    return all + (value === moved ? '~' : encodeURIComponent(value)) + part
  })
  return moved === undefined ? all : `${all}?~=${encodeURIComponent(moved)}`
}

async function problem(answer: Response): Promise<Problem> {
  let text = (await answer.text()).trim()
  try {
    const fields = JSON.parse(text)
    text = fields.detail ?? fields.message ?? fields.title ?? fields.code ?? text
  } catch {
    // plain text
  }
  return new Problem(answer.status, text || answer.statusText || String(answer.status))
}

/** Sends a request with the token of the session, or another one. */
export async function send(
  method: string,
  url: URL,
  body?: unknown,
  signal?: AbortSignal,
  token = session().token,
): Promise<Response> {
  const headers: Record<string, string> = {}
  if (token) headers.Authorization = `Bearer ${token}`
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (forgery && method !== 'GET') headers[forgery[0]] = forgery[1]
  const answer = await fetch(url, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
    credentials: 'same-origin', // the login of an application may be a cookie
    cache: 'no-store',
  })
  if (session().application && (answer.redirected || answer.status === 401)) {
    location.reload() // the application asks for its login again
    return new Promise(() => {})
  }
  if (answer.ok) return answer
  if (answer.status === 401 && token && token === session().token) signOut('expired')
  throw await problem(answer)
}

/** Asks who uses the page: an application around the broker may have authenticated its user. */
export async function identify(): Promise<void> {
  try {
    const answer = await send('GET', address('login'), undefined, undefined, '')
    const [name, value] = answer.headers.get('Smqtt-Csrf')?.split(' ') ?? []
    if (name && value) forgery = [name, value]
    const user = (await answer.json()) as { authentication: string; username?: string; role?: Role }
    if (user.authentication === 'application') enter({ name: user.username, role: user.role })
  } catch (error) {
    if (error instanceof Problem && error.status === 403) enter({ refused: error.message })
    // otherwise the page asks for a login, which says what is wrong
  }
}

async function json<T>(answer: Promise<Response>): Promise<T> {
  const text = await (await answer).text()
  return (text ? JSON.parse(text) : undefined) as T
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) =>
  json<T>(send('GET', address(path, query), undefined, signal))
export const post = <T>(path: string, body: unknown = {}) => json<T>(send('POST', address(path), body))
export const put = <T>(path: string, body: unknown) => json<T>(send('PUT', address(path), body))
export const remove = (path: string, query?: Query) => json<unknown>(send('DELETE', address(path, query)))

/** A page of a list. */
export interface List<T> {
  data: T[]
  meta?: { page?: number; limit?: number; count?: number; hasnext?: boolean; cursor?: string | null }
  incomplete?: string[]
}

/** Some lists of the API are bare arrays. */
export const asList = <T>(answer: T[] | List<T>): List<T> => (Array.isArray(answer) ? { data: answer } : answer)
