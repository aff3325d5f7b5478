// SPDX-License-Identifier: Apache-2.0
import { path, post } from '../api'
import { t } from '../i18n'
import { session, signOut } from '../session'
import { Card, Field, Form } from '../ui'

/** The own password. The broker ends all logins of a user whose password has changed. */
export function Account() {
  const name = session().name ?? ''
  return (
    <Card title={name}>
      <Form
        label={t('changePassword')}
        action={t('changePassword')}
        submit={async values => {
          await post(path`users/${name}/change_pwd`, values)
          signOut('changed')
        }}
      >
        <Field label={t('oldPassword')}>
          <input name="old_pwd" type="password" autocomplete="current-password" required />
        </Field>
        <Field label={t('newPassword')}>
          <input name="new_pwd" type="password" autocomplete="new-password" required />
        </Field>
      </Form>
    </Card>
  )
}
