// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact'
import { identify } from './api'
import { App } from './app'
import { loadLanguage } from './i18n'
import './style.css'
import { applyTheme } from './theme'

applyTheme()
void Promise.all([loadLanguage(), identify()]).then(() => render(<App />, document.getElementById('page')!))
