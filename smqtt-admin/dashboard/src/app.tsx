// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks'
import { post } from './api'
import { LANGUAGES, chooseLanguage, language, t } from './i18n'
import { MENU } from './menu'
import { link, useRoute } from './router'
import { onSession, session, signOut } from './session'
import { onStreamState } from './stream'
import { toggleTheme, useTheme } from './theme'
import { Login } from './pages/login'

export function App() {
  const [, changed] = useState(0)
  useEffect(() => {
    const stop = onSession(() => changed(n => n + 1))
    return () => void stop()
  }, [])
  const { token, application, refused } = session()
  if (refused) {
    return (
      <main class="login">
        <h1>smqtt</h1>
        <p class="notice">{refused}</p>
      </main>
    )
  }
  return token || application ? <Frame /> : <Login />
}

function Frame() {
  const route = useRoute()
  const items = MENU.filter(item => item.shown())
  const here = items.find(item => item.name === route.parts[0]) ?? items[0]!
  const [open, setOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const title = t(here.title)
  useEffect(() => {
    document.title = `${title} · smqtt`
    setOpen(false)
    main.current?.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [route.parts.join('/')])
  return (
    <div class="frame">
      <header class="top">
        <button type="button" class="skip" onClick={() => main.current?.focus()}>
          {t('skip')}
        </button>
        <button type="button" class="menu" aria-expanded={open} aria-controls="menu" onClick={() => setOpen(!open)}>
          {t('menu')}
        </button>
        <a class="logo" href="#/">
          smqtt
        </a>
        <StreamState />
        <Preferences />
        <SignOut />
      </header>
      <nav id="menu" class={open ? 'open' : ''} aria-label={t('menu')}>
        {items.map(item => (
          <a href={link([item.name])} aria-current={item === here ? 'page' : undefined}>
            {t(item.title)}
          </a>
        ))}
      </nav>
      <main ref={main} tabIndex={-1}>
        <h1>{title}</h1>
        <here.page key={here.name} route={route} />
      </main>
    </div>
  )
}

function StreamState() {
  const [open, set] = useState<boolean>()
  useEffect(() => {
    const stop = onStreamState(set)
    return () => void stop()
  }, [])
  return (
    <span class="live" role="status">
      {open === false && t('disconnected')}
    </span>
  )
}

export function Preferences() {
  const theme = useTheme()
  return (
    <>
      <select aria-label={t('language')} onChange={event => chooseLanguage(event.currentTarget.value)}>
        {Object.entries(LANGUAGES).map(([tag, name]) => (
          <option value={tag} selected={tag === language} lang={tag}>
            {name}
          </option>
        ))}
      </select>
      <button type="button" aria-pressed={theme === 'dark'} onClick={toggleTheme}>
        {t('dark')}
      </button>
    </>
  )
}

function SignOut() {
  const { name, application } = session()
  if (application) return <span>{name}</span>
  async function leave() {
    await post('logout', name ? { username: name } : {}).catch(() => undefined) // the token is forgotten in any case
    signOut()
  }
  return (
    <button type="button" onClick={leave}>
      {t('signOut')}
      {name && ` (${name})`}
    </button>
  )
}
