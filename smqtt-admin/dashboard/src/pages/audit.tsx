// SPDX-License-Identifier: Apache-2.0
import { get, type List } from '../api'
import { t } from '../i18n'
import { Badge, Failure, Name, Table, Time, usePages } from '../ui'

interface Entry {
  created_at: string
  source: string
  source_ip?: string
  node?: string
  operation_id?: string
  operation_type?: string
  http_method?: string
  http_status_code?: number
  operation_result?: string
}

export function Audit() {
  const list = usePages<Entry>(paging => get<List<Entry>>('audit', paging), [], 'page')
  return (
    <>
      <Failure error={list.error} />
      <Table
        label={t('audit')}
        rows={list.rows}
        columns={[
          { head: t('time'), cell: one => <Time at={one.created_at} /> },
          { head: t('user'), cell: one => <Name text={one.source} /> },
          { head: t('address'), cell: one => <Name text={one.source_ip} /> },
          { head: t('action'), cell: one => <Name text={`${(one.http_method ?? '').toUpperCase()} ${one.operation_id ?? ''}`} /> },
          {
            head: t('result'),
            cell: one => <Badge kind={(one.http_status_code ?? 0) < 400 ? 'good' : 'bad'}>{one.http_status_code ?? '–'}</Badge>,
          },
          { head: t('node'), cell: one => <Name text={one.node} /> },
        ]}
      />
      {list.pager}
    </>
  )
}
