// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { address, post, send } from '../api'
import { Preferences } from '../app'
import { t } from '../i18n'
import { go } from '../router'
import { device, keepDevice, session, signIn, type Role } from '../session'
import { Field, Form } from '../ui'

export function Login() {
  const { ended } = session()
  const [byToken, setByToken] = useState(false)

  async function withPassword({ username = '', password = '' }: Record<string, string>) {
    const answer = await post<{ token: string; role: Role; must_change_password?: boolean; device?: string }>('login', {
      username,
      password,
      device: device(username),
    })
    if (answer.device) keepDevice(username, answer.device)
    if (answer.must_change_password) go(['account'])
    signIn(answer.token, answer.role, username)
  }

  async function withToken({ token = '' }: Record<string, string>) {
    await send('GET', address('monitor_current'), undefined, undefined, token.trim())
    signIn(token.trim(), 'administrator')
  }

  return (
    <main class="login">
      <h1>smqtt</h1>
      {ended && <p class="notice">{t(ended === 'changed' ? 'passwordChanged' : 'expired')}</p>}
      {byToken ? (
        <Form key="token" submit={withToken} action={t('signIn')} label={t('signIn')}>
          <Field label={t('managementToken')} wide>
            <input name="token" type="password" autocomplete="off" required />
          </Field>
        </Form>
      ) : (
        <Form key="password" submit={withPassword} action={t('signIn')} label={t('signIn')}>
          <Field label={t('username')} wide>
            <input name="username" autocomplete="username" required />
          </Field>
          <Field label={t('password')} wide>
            <input name="password" type="password" autocomplete="current-password" required />
          </Field>
        </Form>
      )}
      <p>
        <button type="button" class="text" onClick={() => setByToken(!byToken)}>
          {t(byToken ? 'usePassword' : 'useToken')}
        </button>
      </p>
      <p class="buttons">
        <Preferences />
      </p>
    </main>
  )
}
