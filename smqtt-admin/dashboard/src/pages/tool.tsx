// SPDX-License-Identifier: Apache-2.0
// A client in the browser: it connects to a WebSocket listener with MQTT credentials of its own, never with the token of the page.
import type { MqttClient } from 'mqtt'
import { useEffect, useRef, useState } from 'preact/hooks'
import { may } from '../session'
import { plain, pretty, text } from '../format'
import { t } from '../i18n'
import { Badge, Card, Failure, Field, Form, Name, Select, Table, useLoad, type Values } from '../ui'
import { readListeners, type Listener } from './listeners'

interface Received {
  number: number
  at: Date
  topic: string
  payload: Uint8Array
  qos: number
  retain: boolean
}

const KEPT = 200
const QOS = ['0', '1', '2'].map(qos => [qos, qos] as [string, string])

/** The address at which this browser reaches a WebSocket listener: the host of the page, and the port of the listener. */
function addressOf(listener: Listener): string {
  const port = /(\d+)$/.exec(listener.bind)?.[1] ?? ''
  const secure = listener.type === 'wss' || listener.type === 'https'
  return `${secure ? 'wss' : 'ws'}://${location.hostname}:${port}${listener.path ?? '/mqtt'}`
}

export function Tool() {
  const [client, setClient] = useState<MqttClient>()
  const [state, setState] = useState<'off' | 'connecting' | 'connected'>('off')
  const [error, fail] = useState<unknown>()
  const [filters, setFilters] = useState<string[]>([])
  const [messages, setMessages] = useState<Received[]>([])
  const number = useRef(0)
  const listeners = useLoad(signal => (may.look() ? readListeners(signal) : Promise.resolve([])))
  const first = listeners.value?.find(one => one.type.startsWith('ws'))

  useEffect(() => () => void client?.end(true), [client])

  async function connect({ url = '', clientid, username, password, version }: Values) {
    fail(undefined)
    setState('connecting')
    const { default: mqtt } = await import('mqtt')
    const opened = mqtt.connect(url, {
      clientId: clientid || `dashboard-${crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16)}`,
      username: username || undefined,
      password: password || undefined,
      protocolVersion: Number(version) as 4 | 5,
      clean: true,
      reconnectPeriod: 0,
      timerVariant: 'native', // a worker would need an address that the content security policy forbids
    })
    opened.on('connect', () => setState('connected'))
    opened.on('close', () => {
      setState('off')
      setFilters([])
    })
    opened.on('error', caught => fail(caught))
    opened.on('message', (topic, payload, packet) => {
      const one = { number: ++number.current, at: new Date(), topic, payload, qos: packet.qos, retain: packet.retain }
      setMessages(old => [one, ...old].slice(0, KEPT))
    })
    setClient(opened)
  }

  return (
    <>
      <Card title={t('connection')} side={<Badge kind={state === 'connected' ? 'good' : 'plain'}>{t(state === 'off' ? 'offline' : state)}</Badge>}>
        <p class="dim">{t('toolHelp')}</p>
        {state === 'off' ? (
          <Form key={first?.id ?? ''} label={t('connection')} action={t('connect')} submit={connect}>
            <Field label="URL" wide>
              <input name="url" value={first ? addressOf(first) : `ws://${location.hostname}:8083/mqtt`} required />
            </Field>
            <Field label={t('clientId')}>
              <input name="clientid" placeholder={t('generated')} />
            </Field>
            <Field label={t('username')}>
              <input name="username" autocomplete="off" />
            </Field>
            <Field label={t('password')}>
              <input name="password" type="password" autocomplete="off" />
            </Field>
            <Select label="MQTT" name="version" value="5" options={[['5', '5.0'], ['4', '3.1.1']]} />
          </Form>
        ) : (
          <button type="button" onClick={() => client?.end()}>
            {t('disconnect')}
          </button>
        )}
        <Failure error={error} />
      </Card>
      {client && state === 'connected' && (
        <div class="columns">
          <Publish client={client} />
          <Subscribe client={client} filters={filters} set={setFilters} />
        </div>
      )}
      <Card
        title={t('receivedMessages')}
        side={
          <button type="button" onClick={() => setMessages([])}>
            {t('clear')}
          </button>
        }
      >
        <Table
          label={t('receivedMessages')}
          rows={messages}
          id={one => String(one.number)}
          columns={[
            { head: t('time'), cell: one => one.at.toLocaleTimeString() },
            { head: t('topic'), cell: one => <Name text={one.topic} /> },
            { head: 'QoS', cell: one => one.qos + (one.retain ? ' R' : ''), number: true },
            { head: t('payload'), cell: one => <Content payload={one.payload} /> },
          ]}
        />
      </Card>
    </>
  )
}

function Content({ payload }: { payload: Uint8Array }) {
  const data = new Uint8Array(payload)
  const json = pretty(data)
  if (json !== null) return <pre class="payload">{json.split('\n').map(plain).join('\n')}</pre>
  return <Name text={text(data) ?? [...data.subarray(0, 64)].map(b => b.toString(16).padStart(2, '0')).join(' ')} />
}

function Publish({ client }: { client: MqttClient }) {
  const [sent, set] = useState(0)
  async function publish({ topic = '', payload = '', qos, retain }: Values) {
    const answer = await client.publishAsync(topic, payload, { qos: Number(qos) as 0 | 1 | 2, retain: !!retain })
    const code = (answer as { reasonCode?: number } | undefined)?.reasonCode ?? 0
    if (code >= 0x80) throw new Error(t('refusedCode', `0x${code.toString(16)}`))
    set(n => n + 1)
  }
  return (
    <Card title={t('publish')} side={<span role="status">{sent > 0 && t('published_n', sent)}</span>}>
      <Form label={t('publish')} action={t('publish')} submit={publish}>
        <Field label={t('topic')} wide>
          <input name="topic" required />
        </Field>
        <Field label={t('payload')} wide>
          <textarea name="payload" rows={4} />
        </Field>
        <Select label="QoS" name="qos" value="0" options={QOS} />
        <label class="check">
          <input type="checkbox" name="retain" /> {t('retain')}
        </label>
      </Form>
    </Card>
  )
}

function Subscribe({ client, filters, set }: { client: MqttClient; filters: string[]; set: (filters: string[]) => void }) {
  async function subscribe({ topic = '', qos }: Values, form: HTMLFormElement) {
    const [granted] = await client.subscribeAsync(topic, { qos: Number(qos) as 0 | 1 | 2 })
    if (granted && granted.qos >= 0x80) throw new Error(t('refusedCode', `0x${granted.qos.toString(16)}`))
    form.reset()
    set([...filters.filter(one => one !== topic), topic])
  }
  async function unsubscribe(topic: string) {
    await client.unsubscribeAsync(topic)
    set(filters.filter(one => one !== topic))
  }
  return (
    <Card title={t('subscribe')}>
      <Form label={t('subscribe')} action={t('subscribe')} submit={subscribe}>
        <Field label={t('filter')} wide>
          <input name="topic" required />
        </Field>
        <Select label="QoS" name="qos" value="0" options={QOS} />
      </Form>
      <ul class="chips">
        {filters.map(one => (
          <li key={one}>
            <Name text={one} />{' '}
            <button type="button" onClick={() => unsubscribe(one)}>
              {t('unsubscribe')}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  )
}
