// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, type List } from '../api'
import { t } from '../i18n'
import { Failure, Field, Name, Table, useLoad } from '../ui'

interface Setting {
  key: string
  value: string
  origin: string
}

export function Configuration() {
  const [part, search] = useState('')
  const loaded = useLoad(signal => get<List<Setting>>('configs', {}, signal))
  const rows = loaded.value?.data.filter(one => one.key.includes(part))
  return (
    <>
      <Field label={t('key')} wide>
        <input type="search" onInput={event => search(event.currentTarget.value)} placeholder={t('partOfIt')} />
      </Field>
      <Failure error={loaded.error} />
      <Table
        label={t('configuration')}
        rows={rows}
        id={one => one.key}
        columns={[
          { head: t('key'), cell: one => <code>{one.key}</code> },
          { head: t('value'), cell: one => <Name text={one.value} /> },
          { head: t('origin'), cell: one => <Name text={one.origin} /> },
        ]}
      />
    </>
  )
}
