// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { asList, get, path, post, put, remove, type List } from '../api'
import { t } from '../i18n'
import { Badge, Card, Confirm, Facts, Failure, Field, Form, Name, Select, Table, Time, useLoad } from '../ui'

interface User {
  username: string
  role: string
  description?: string
}

interface ApiKey {
  name: string
  api_key: string
  api_secret?: string
  role: string
  desc?: string
  enable: boolean
  created_at?: string
  expired_at?: string
}

const USER_ROLES = ['viewer', 'operator', 'administrator']
const KEY_ROLES = ['viewer', 'publisher', 'operator', 'administrator']
const roles = (names: string[]) => names.map(name => [name, t(`role.${name}` as 'role.viewer')] as [string, string])

export function Users() {
  return (
    <>
      <UserList />
      <KeyList />
    </>
  )
}

function UserList() {
  const list = useLoad(signal => get<User[] | List<User>>('users', {}, signal))
  return (
    <Card title={t('people')}>
      <Form
        label={t('addUser')}
        action={t('addUser')}
        submit={async (values, form) => {
          await post('users', values)
          form.reset()
          list.reload()
        }}
      >
        <Field label={t('username')}>
          <input name="username" autocomplete="off" required />
        </Field>
        <Field label={t('password')}>
          <input name="password" type="password" autocomplete="new-password" required />
        </Field>
        <Select label={t('role')} name="role" value="viewer" options={roles(USER_ROLES)} />
        <Field label={t('description')}>
          <input name="description" />
        </Field>
      </Form>
      <Failure error={list.error} />
      <Table
        label={t('people')}
        rows={list.value && asList(list.value).data}
        id={user => user.username}
        columns={[
          { head: t('username'), cell: user => <Name text={user.username} /> },
          { head: t('role'), cell: user => user.role },
          { head: t('description'), cell: user => <Name text={user.description} /> },
          {
            head: '',
            cell: user => (
              <span class="buttons">
                <Password user={user} />
                <Confirm
                  label={t('delete')}
                  question={t('deleteUserQuestion')}
                  subject={user.username}
                  action={() => remove(path`users/${user.username}`)}
                  done={list.reload}
                />
              </span>
            ),
          },
        ]}
      />
    </Card>
  )
}

function Password({ user }: { user: User }) {
  const [open, show] = useState(false)
  if (!open) {
    return (
      <button type="button" onClick={() => show(true)}>
        {t('changePassword')}
      </button>
    )
  }
  return (
    <Form
      label={t('changePassword')}
      action={t('changePassword')}
      submit={async ({ password }) => {
        await put(path`users/${user.username}`, { password })
        show(false)
      }}
    >
      <Field label={t('newPassword')}>
        <input name="password" type="password" autocomplete="new-password" required />
      </Field>
    </Form>
  )
}

function KeyList() {
  const list = useLoad(signal => get<ApiKey[] | List<ApiKey>>('api_key', {}, signal))
  const [made, show] = useState<ApiKey>()
  return (
    <Card title={t('keys')}>
      <Form
        label={t('addKey')}
        action={t('addKey')}
        submit={async ({ name, role, desc }, form) => {
          show(await post<ApiKey>('api_key', { name, role, desc, enable: true }))
          form.reset()
          list.reload()
        }}
      >
        <Field label={t('name')}>
          <input name="name" required />
        </Field>
        <Select label={t('role')} name="role" value="viewer" options={roles(KEY_ROLES)} />
        <Field label={t('description')}>
          <input name="desc" />
        </Field>
      </Form>
      {made?.api_secret && (
        <div class="notice good" role="status">
          <p>{t('secretOnce')}</p>
          <Facts items={[[t('key'), <code>{made.api_key}</code>], [t('secret'), <code>{made.api_secret}</code>]]} />
        </div>
      )}
      <Failure error={list.error} />
      <Table
        label={t('keys')}
        rows={list.value && asList(list.value).data}
        id={key => key.name}
        columns={[
          { head: t('name'), cell: key => <Name text={key.name} /> },
          { head: t('key'), cell: key => <code>{key.api_key}</code> },
          { head: t('role'), cell: key => key.role },
          { head: t('description'), cell: key => <Name text={key.desc} /> },
          { head: t('state'), cell: key => <Badge kind={key.enable ? 'good' : 'plain'}>{t(key.enable ? 'enabled' : 'off')}</Badge> },
          { head: t('since'), cell: key => <Time at={key.created_at} /> },
          {
            head: '',
            cell: key => (
              <span class="buttons">
                <button type="button" onClick={() => put(path`api_key/${key.name}`, { enable: !key.enable }).then(list.reload)}>
                  {t(key.enable ? 'disable' : 'enable')}
                </button>
                <Confirm
                  label={t('delete')}
                  question={t('deleteKeyQuestion')}
                  subject={key.name}
                  action={() => remove(path`api_key/${key.name}`)}
                  done={list.reload}
                />
              </span>
            ),
          },
        ]}
      />
    </Card>
  )
}
