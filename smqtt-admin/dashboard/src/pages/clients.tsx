// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, isDots, path, post, remove, type List } from '../api'
import { count } from '../format'
import { t } from '../i18n'
import { go, link, type Route } from '../router'
import { may } from '../session'
import { useStream } from '../stream'
import { Badge, Confirm, Failure, Field, Form, Name, Select, Table, Time, usePages } from '../ui'
import { ClientPage } from './client'

export interface Client {
  clientid: string
  username?: string | null
  connected: boolean
  node: string
  ip_address: string
  port: number
  proto_name: string
  proto_ver: number
  keepalive: number
  clean_start: boolean
  expiry_interval: number
  connected_at?: string
  disconnected_at?: string
  listener?: string
  subscriptions_cnt: number
  inflight_cnt: number
  inflight_max?: number
  mqueue_len: number
  mqueue_max?: number
  mqueue_dropped?: number
  mqueue_bytes?: number
  durable?: boolean
  is_bridge?: boolean
}

export const version = (client: Client) => ({ 3: '3.1', 4: '3.1.1', 5: '5.0' })[client.proto_ver] ?? String(client.proto_ver)

const LONGEST_IN_PATH = 1_000

/** Ends a client, also one whose identifier cannot stand in a path. */
export const kick = (id: string) =>
  isDots(id) || id.length > LONGEST_IN_PATH ? post('clients/kickout/bulk', [id]) : remove(path`clients/${id}`)

export function Clients({ route }: { route: Route }) {
  const id = route.parts[1]
  return id === undefined ? <List_ query={route.query} /> : <ClientPage key={id} id={id} />
}

function List_({ query }: { query: URLSearchParams }) {
  const filters = Object.fromEntries(query)
  const list = usePages<Client>(paging => get<List<Client>>('clients', { ...paging, ...filters }), [query.toString()])
  return (
    <>
      <Form
        key={query.toString()}
        label={t('search')}
        submit={values => go(['clients'], Object.fromEntries(Object.entries(values).filter(([, value]) => value)))}
      >
        <Field label={t('clientId')} wide>
          <input type="search" name="like_clientid" defaultValue={filters.like_clientid} placeholder={t('partOfIt')} />
        </Field>
        <Field label={t('username')}>
          <input type="search" name="like_username" defaultValue={filters.like_username} placeholder={t('partOfIt')} />
        </Field>
        <Field label={t('address')}>
          <input type="search" name="ip_address" defaultValue={filters.ip_address} />
        </Field>
        <Select
          label={t('state')}
          name="conn_state"
          value={filters.conn_state}
          options={[['', t('all')], ['connected', t('connected')], ['disconnected', t('offline')]]}
        />
        <Field label={t('queuedAtLeast')}>
          <input type="number" min="0" name="gte_mqueue_len" defaultValue={filters.gte_mqueue_len} />
        </Field>
      </Form>
      <Changes reload={list.reload} />
      <Failure error={list.error} />
      <Table
        label={t('clients')}
        rows={list.rows}
        id={client => client.clientid}
        columns={[
          {
            head: t('clientId'),
            cell: client => (
              <a href={link(['clients', client.clientid])}>
                <Name text={client.clientid} />
              </a>
            ),
          },
          { head: t('state'), cell: client => <State client={client} /> },
          { head: t('username'), cell: client => <Name text={client.username} /> },
          { head: t('address'), cell: client => `${client.ip_address}:${client.port}` },
          { head: t('node'), cell: client => <Name text={client.node} /> },
          { head: 'MQTT', cell: version },
          { head: t('since'), cell: client => <Time at={client.connected ? client.connected_at : client.disconnected_at} /> },
          { head: t('subscriptions'), cell: client => count(client.subscriptions_cnt), number: true },
          { head: t('queued'), cell: client => count(client.mqueue_len), number: true },
          {
            head: '',
            cell: client =>
              may.operate() && (
                <Confirm
                  label={t('kick')}
                  question={t('kickQuestion')}
                  subject={client.clientid}
                  action={() => kick(client.clientid)}
                  done={list.reload}
                />
              ),
          },
        ]}
      />
      {list.pager}
    </>
  )
}

export const State = ({ client }: { client: Client }) => (
  <Badge kind={client.connected ? 'good' : 'plain'}>{t(client.connected ? 'connected' : 'offline')}</Badge>
)

/** Says how many clients have come and gone since the list was read. */
function Changes({ reload }: { reload: () => void }) {
  const [seen, set] = useState({ connected: 0, disconnected: 0 })
  useStream('clients', (event: { connected: number; disconnected: number }) =>
    set(old => ({ connected: old.connected + event.connected, disconnected: old.disconnected + event.disconnected })),
  )
  if (!seen.connected && !seen.disconnected) return null
  function refresh() {
    set({ connected: 0, disconnected: 0 })
    reload()
  }
  return (
    <p class="notice">
      {t('changes', count(seen.connected), count(seen.disconnected))}{' '}
      <button type="button" onClick={refresh}>
        {t('refresh')}
      </button>
    </p>
  )
}
