// SPDX-License-Identifier: Apache-2.0
// Who uses the page. Kept for this tab only.

export type Role = 'administrator' | 'operator' | 'viewer' | 'publisher'
export interface Session {
  token?: string
  name?: string
  role: Role
  ended?: 'expired' | 'changed'
  /** Whether an application around the broker has authenticated the user: there is nothing to log in to or out of. */
  application?: boolean
  /** Why the user of the application may not use the page. */
  refused?: string
}

const KEY = 'smqtt.session'
const listeners = new Set<() => void>()
let current: Session = read()

function read(): Session {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '') as Session
  } catch {
    return { role: 'viewer' }
  }
}

function set(next: Session): void {
  current = next
  sessionStorage.setItem(KEY, JSON.stringify(next))
  listeners.forEach(listener => listener())
}

export const session = (): Session => current
export const signIn = (token: string, role: Role, name?: string): void => set({ token, role, name })
/** Begins the session of a user of the application, or tells why there is none. It is not kept: the application decides again next time. */
export const enter = (user: { name?: string; role?: Role; refused?: string }): void => {
  current = { role: 'viewer', application: true, ...user }
  listeners.forEach(listener => listener())
}
export const signOut = (ended?: Session['ended']): void => set({ role: 'viewer', ended })

export function onSession(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const DEVICES = 'smqtt.devices'

function devices(): Record<string, unknown> {
  try {
    return Object(JSON.parse(localStorage.getItem(DEVICES) ?? ''))
  } catch {
    return {}
  }
}

/** The secret that a login of this user has left in this browser: with it, wrong logins of others behind the same address do not count. */
export function device(name: string): string {
  const kept = devices()[name]
  return typeof kept === 'string' ? kept : ''
}

export const keepDevice = (name: string, secret: string): void =>
  localStorage.setItem(DEVICES, JSON.stringify({ ...devices(), [name]: secret }))

/** What a role may do beyond reading. The broker decides; the page only leaves out what would be refused. */
export const may = {
  look: () => current.role !== 'publisher',
  operate: () => current.role === 'administrator' || current.role === 'operator',
  haveAccount: () => current.name !== undefined && !current.application,
  administer: () => current.role === 'administrator',
}
