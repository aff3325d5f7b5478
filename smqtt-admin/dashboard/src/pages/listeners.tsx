// SPDX-License-Identifier: Apache-2.0
import { asList, get, path, post, type List } from '../api'
import { count } from '../format'
import { t } from '../i18n'
import { may } from '../session'
import { Badge, Confirm, Failure, Name, Table, useLoad } from '../ui'

export interface Listener {
  id: string
  type: string
  name: string
  bind: string
  running?: boolean
  current_connections?: number
  max_connections?: number
  path?: string
  status?: { running: boolean; current_connections: number; max_connections?: number | string }
}

export const readListeners = (signal?: AbortSignal) =>
  get<Listener[] | List<Listener>>('listeners', {}, signal).then(answer => asList(answer).data)

export function Listeners() {
  const list = useLoad(readListeners)
  const running = (one: Listener) => one.status?.running ?? one.running ?? true
  const act = (one: Listener, what: string) => (
    <Confirm
      label={t(what === 'stop' ? 'stop' : 'start')}
      question={t(what === 'stop' ? 'stopQuestion' : 'startQuestion')}
      subject={one.id}
      action={() => post(path`listeners/${one.id}/` + what)}
      done={list.reload}
    />
  )
  return (
    <>
      <Failure error={list.error} />
      <Table
        label={t('listeners')}
        rows={list.value}
        id={one => one.id}
        columns={[
          { head: t('listener'), cell: one => <Name text={one.id} /> },
          { head: t('kind'), cell: one => one.type },
          { head: t('address'), cell: one => <Name text={one.bind} /> },
          {
            head: t('state'),
            cell: one => <Badge kind={running(one) ? 'good' : 'bad'}>{t(running(one) ? 'running' : 'stopped')}</Badge>,
          },
          { head: t('connected'), cell: one => count(one.status?.current_connections ?? one.current_connections), number: true },
          { head: '', cell: one => may.administer() && act(one, running(one) ? 'stop' : 'start') },
        ]}
      />
    </>
  )
}
