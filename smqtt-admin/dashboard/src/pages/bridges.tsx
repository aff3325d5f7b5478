// SPDX-License-Identifier: Apache-2.0
import { get, path, post, type List } from '../api'
import { count, rate } from '../format'
import { t, tOr, type Key } from '../i18n'
import { may } from '../session'
import { Badge, Confirm, Failure, Name, Table, Time, useEvery, useLoad } from '../ui'

const INTERVAL_MILLIS = 5_000

interface OnNode {
  node: string
  status: string
  server: string
  since: string
  status_reason?: string
  rtt_ms?: number
  metrics: { sent: number; received: number; resent: number; queuing: number; dropped: number }
}

interface Bridge {
  id: string
  name: string
  node_status: OnNode[]
}

interface Row extends OnNode {
  id: string
  name: string
}

const KINDS: Record<string, 'good' | 'bad' | 'plain'> = { connected: 'good', disconnected: 'bad' }
const OPERATIONS: [string, Key, Key][] = [
  ['start', 'start', 'bridgeStartQuestion'],
  ['stop', 'stop', 'bridgeStopQuestion'],
  ['restart', 'restart', 'bridgeRestartQuestion'],
]

const read = (signal: AbortSignal) => get<List<Bridge>>('bridges', {}, signal)

export function Bridges() {
  const list = useLoad(read)
  useEvery(INTERVAL_MILLIS, list.reload)
  const rows = list.value?.data.flatMap(({ id, name, node_status }) => node_status.map(one => ({ ...one, id, name })))
  const act = (row: Row) =>
    OPERATIONS.filter(([what]) => (what === 'start') === (row.status === 'stopped')).map(([what, label, question]) => (
      <Confirm
        label={t(label)}
        question={t(question)}
        subject={`${row.name} · ${row.node}`}
        action={() => post(path`nodes/${row.node}/bridges/${row.id}/${what}`)}
        done={list.reload}
      />
    ))
  const incomplete = list.value?.incomplete
  return (
    <>
      <Failure error={list.error} />
      {!!incomplete?.length && <p class="notice warn">{t('incomplete', incomplete.join(', '))}</p>}
      <Table
        label={t('bridges')}
        rows={rows}
        id={row => `${row.name} ${row.node}`}
        columns={[
          { head: t('bridge'), cell: row => <Name text={row.name} /> },
          { head: t('node'), cell: row => <Name text={row.node} /> },
          { head: t('address'), cell: row => <Name text={row.server} /> },
          {
            head: t('state'),
            cell: row => (
              <>
                <Badge kind={KINDS[row.status] ?? 'plain'}>{tOr(`bridge.${row.status}`, row.status)}</Badge>{' '}
                {row.status === 'disconnected' && <Name text={row.status_reason} />}
                {row.rtt_ms !== undefined && <span title={t('rtt')}>{rate(row.rtt_ms)} ms</span>}
              </>
            ),
          },
          { head: t('since'), cell: row => <Time at={row.since} /> },
          { head: t('queued'), cell: row => count(row.metrics.queuing), number: true },
          { head: t('sent'), cell: row => count(row.metrics.sent), number: true },
          { head: t('received'), cell: row => count(row.metrics.received), number: true },
          { head: t('dropped'), cell: row => count(row.metrics.dropped), number: true },
          { head: '', cell: row => may.administer() && act(row) },
        ]}
      />
    </>
  )
}
