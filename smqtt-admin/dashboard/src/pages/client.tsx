// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { asList, get, path, post, type List } from '../api'
import { bytes, count, duration, moment } from '../format'
import { t } from '../i18n'
import { go, link } from '../router'
import { may } from '../session'
import { Card, Confirm, Facts, Failure, Field, Form, Name, Select, Table, Tabs, Time, useLoad } from '../ui'
import { Payload } from './payload'
import { ClientTrace } from './trace'
import { State, kick, version, type Client } from './clients'

export interface Subscription {
  clientid: string
  node: string
  topic: string
  qos: number
  nl: number
  rap: number
  rh?: number
}

interface Message {
  msgid: string
  topic: string
  qos: number
  publish_at?: string
  from_clientid?: string
  payload?: string
}

export function ClientPage({ id }: { id: string }) {
  const [tab, show] = useState('subscriptions')
  const loaded = useLoad(signal => get<Client>(path`clients/${id}`, {}, signal), [id])
  const client = loaded.value
  return (
    <>
      <p class="crumbs">
        <a href={link(['clients'])}>{t('clients')}</a> / <Name text={id} />
      </p>
      <Failure error={loaded.error} />
      {client && (
        <>
          <Card
            title={t('session')}
            side={
              <span class="buttons">
                <button type="button" onClick={loaded.reload}>
                  {t('refresh')}
                </button>
                <a class="button" href={link(['topics'], { clientid: id })}>
                  {t('explain')}
                </a>
                {may.operate() && (
                  <>
                    <Confirm label={t('kick')} question={t('kickQuestion')} subject={id} action={() => kick(id)} done={() => go(['clients'])} />
                    <Confirm
                      label={t('ban')}
                      question={t('banQuestion')}
                      subject={id}
                      action={() => post('banned', { as: 'clientid', who: id })}
                      done={() => go(['bans'])}
                    />
                  </>
                )}
              </span>
            }
          >
            <Facts
              items={[
                [t('state'), <State client={client} />],
                [t('username'), <Name text={client.username} whole />],
                [t('address'), `${client.ip_address}:${client.port}`],
                [t('node'), <Name text={client.node} />],
                [t('listener'), <Name text={client.listener} />],
                ['MQTT', version(client)],
                [t('connectedSince'), moment(client.connected_at)],
                [t('keepAlive'), client.keepalive ? duration(client.keepalive) : t('off')],
                [t('sessionExpiry'), expiry(client.expiry_interval)],
                [t('stored'), t(client.durable ? 'yes' : 'no')],
                [t('inFlight'), limited(client.inflight_cnt, client.inflight_max)],
                [t('queued'), limited(client.mqueue_len, client.mqueue_max) + (client.mqueue_bytes ? ` (${bytes(client.mqueue_bytes)})` : '')],
                [t('dropped'), count(client.mqueue_dropped)],
              ]}
            />
          </Card>
          <Tabs
            label={t('session')}
            shown={tab}
            show={show}
            tabs={[['subscriptions', t('subscriptions')], ['inflight', t('inFlight')], ['queue', t('queued')], ['trace', t('trace')]]}
          />
          {tab === 'trace' ? (
            <ClientTrace id={id} node={client.node} />
          ) : tab === 'subscriptions' ? (
            <Subscriptions id={id} online={client.connected} />
          ) : (
            <Messages key={tab} from={tab === 'queue' ? path`clients/${id}/mqueue_messages` : path`clients/${id}/inflight_messages`} />
          )}
        </>
      )}
    </>
  )
}

const limited = (value: number, limit?: number) => (limit ? `${count(value)} / ${count(limit)}` : count(value))
const NEVER = 0xffffffff

function expiry(seconds?: number | null): string {
  if (!seconds) return t('withConnection')
  return seconds >= NEVER ? t('never') : duration(seconds)
}

function Subscriptions({ id, online }: { id: string; online: boolean }) {
  const list = useLoad(signal => get<Subscription[] | List<Subscription>>(path`clients/${id}/subscriptions`, {}, signal), [id])
  const rows = list.value && asList(list.value).data
  return (
    <>
      {may.operate() && online && (
        <Form
          label={t('subscribe')}
          action={t('subscribe')}
          submit={async (values, form) => {
            await post(path`clients/${id}/subscribe`, { topic: values.topic, qos: Number(values.qos) })
            form.reset()
            list.reload()
          }}
        >
          <Field label={t('filter')} wide>
            <input name="topic" required />
          </Field>
          <Select label="QoS" name="qos" value="0" options={['0', '1', '2'].map(qos => [qos, qos])} />
        </Form>
      )}
      <Failure error={list.error} />
      <Table
        label={t('subscriptions')}
        rows={rows}
        id={one => one.topic}
        columns={[
          { head: t('filter'), cell: one => <Name text={one.topic} /> },
          { head: 'QoS', cell: one => one.qos, number: true },
          { head: t('options'), cell: options },
          {
            head: '',
            cell: one =>
              may.operate() && (
                <Confirm
                  label={t('unsubscribe')}
                  question={t('unsubscribeQuestion')}
                  subject={one.topic}
                  action={() => post(path`clients/${id}/unsubscribe`, { topic: one.topic })}
                  done={list.reload}
                />
              ),
          },
        ]}
      />
    </>
  )
}

export const options = (one: Subscription) =>
  [one.nl && 'No Local', one.rap && 'Retain As Published'].filter(Boolean).join(', ') || '–'

function Messages({ from }: { from: string }) {
  const [chosen, choose] = useState<Message>()
  const list = useLoad(signal => get<List<Message>>(from, { limit: 100, payload: 'base64' }, signal))
  return (
    <>
      <Failure error={list.error} />
      <Table
        label={t('messages')}
        rows={list.value?.data}
        columns={[
          { head: t('topic'), cell: one => <Name text={one.topic} /> },
          { head: 'QoS', cell: one => one.qos, number: true },
          { head: t('from'), cell: one => <Name text={one.from_clientid} /> },
          { head: t('published'), cell: one => <Time at={one.publish_at} /> },
          {
            head: '',
            cell: one =>
              one.payload !== undefined && (
                <button type="button" onClick={() => choose(one)}>
                  {t('show')}
                </button>
              ),
          },
        ]}
      />
      {chosen && <Payload topic={chosen.topic} base64={chosen.payload!} />}
    </>
  )
}
