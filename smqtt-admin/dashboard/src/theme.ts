// SPDX-License-Identifier: Apache-2.0
// Light and dark: what the system has, unless the user has chosen.
import { useEffect, useState } from 'preact/hooks'

const KEY = 'smqtt.theme'
const dark = matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export const theme = (): string => localStorage.getItem(KEY) ?? (dark.matches ? 'dark' : 'light')

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme()
  listeners.forEach(listener => listener())
}

export function toggleTheme(): void {
  localStorage.setItem(KEY, theme() === 'dark' ? 'light' : 'dark')
  applyTheme()
}

dark.addEventListener('change', applyTheme)

export function useTheme(): string {
  const [now, change] = useState(theme)
  useEffect(() => {
    const listener = () => change(theme())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
  return now
}
