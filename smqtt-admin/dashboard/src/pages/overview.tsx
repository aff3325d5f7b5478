// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from 'preact/hooks'
import { asList, get, Problem, type List } from '../api'
import { Chart } from '../chart'
import { bytes, count, duration, rate } from '../format'
import { t, tOr } from '../i18n'
import { isShown } from '../menu'
import { link } from '../router'
import { useStream } from '../stream'
import { useTheme } from '../theme'
import { Badge, Card, Failure, Name, Select, Table, Time, useLoad } from '../ui'

/** The figures of the moment, as the stream sends them. */
export interface Monitor {
  time_stamp: number
  connections: number
  live_connections: number
  subscriptions: number
  shared_subscriptions: number
  retained_msg_count: number
  mqueue: number
  inflight: number
  received_msg_rate: number
  received_bytes_rate: number
  sent_msg_rate: number
  sent_bytes_rate: number
  dropped_msg_rate: number
  dropped_by_reason: Record<string, { total: number; rate: number }>
}

export interface Node {
  node: string
  node_status: string
  version: string
  uptime: number
  connections: number
  live_connections: number
  memory_used: number
  memory_total: number
  load1?: number
}

interface Alarm {
  name: string
  node: string
  message: string
  activate_at: string
}

const KEPT = 300

/** Whether this broker does not have the path. */
const isMissing = (error: unknown) => error instanceof Problem && error.status === 404

/** The figures of all nodes at the same moment. */
interface Cluster {
  sum: Monitor
  nodes: Record<string, Monitor>
  incomplete: string[]
}

/** The last minutes of what the stream has sent. */
function useLive<Figures>(topic: string | undefined) {
  const [now, set] = useState<Figures>()
  const kept = useRef<Figures[]>([])
  useStream(topic, (event: Figures) => {
    kept.current = [...kept.current, event].slice(-KEPT)
    set(event)
  })
  return { now, kept: kept.current }
}

/** The figures of this node, which is the only one. */
function OneNode({ nodes }: { nodes: NodeRows }) {
  return <Figures {...useLive<Monitor>('monitor')} nodes={nodes} />
}

/** The sums of all nodes, or the figures of a chosen one. */
function AllNodes({ nodes }: { nodes: NodeRows }) {
  const { now, kept } = useLive<Cluster>('cluster')
  const [node, choose] = useState('')
  const chosen = (all?: Cluster) => (node ? all?.nodes[node] : all?.sum)
  return (
    <>
      <div class="fields">
        <Select
          label={t('node')}
          name="node"
          value={node}
          change={choose}
          options={[['', t('all')], ...(nodes.rows ?? []).map(one => [one.node, one.node] as [string, string])]}
        />
      </div>
      {!!now?.incomplete.length && <p class="notice warn">{t('incomplete', now.incomplete.join(', '))}</p>}
      <Figures now={chosen(now)} kept={kept.map(chosen).filter(one => one !== undefined)} nodes={nodes} />
    </>
  )
}

export function Overview() {
  const nodes = useNodes()
  if (!nodes.rows && !nodes.error) return null
  return (nodes.rows?.length ?? 0) > 1 ? <AllNodes nodes={nodes} /> : <OneNode nodes={nodes} />
}

function Figures({ now, kept, nodes }: { now?: Monitor; kept: Monitor[]; nodes: NodeRows }) {
  const theme = useTheme()
  const times = kept.map(one => one.time_stamp / 1000)
  const line = (label: string, value: (one: Monitor) => number) => ({ label, values: kept.map(value) })
  return (
    <>
      <div class="tiles">
        <Tile label={t('connected')} value={count(now?.live_connections)} to="clients" />
        <Tile label={t('sessions')} value={count(now?.connections)} to="clients" />
        <Tile label={t('subscriptions')} value={count(now?.subscriptions)} to="subscriptions" />
        <Tile label={t('retained')} value={count(now?.retained_msg_count)} to="retained" />
        <Tile label={t('receivedRate')} value={rate(now?.received_msg_rate)} />
        <Tile label={t('sentRate')} value={rate(now?.sent_msg_rate)} />
        <Tile label={t('droppedRate')} value={rate(now?.dropped_msg_rate)} bad={!!now?.dropped_msg_rate} />
        <Tile label={t('queued')} value={count(now?.mqueue)} />
      </div>
      <div class="columns">
        <Card title={t('messagesPerSecond')}>
          <Chart
            label={t('messagesPerSecond')}
            theme={theme}
            times={times}
            lines={[line(t('received'), m => m.received_msg_rate), line(t('sent'), m => m.sent_msg_rate), line(t('dropped'), m => m.dropped_msg_rate)]}
          />
        </Card>
        <Card title={t('bytesPerSecond')}>
          <Chart
            label={t('bytesPerSecond')}
            theme={theme}
            times={times}
            format={bytes}
            lines={[line(t('received'), m => m.received_bytes_rate), line(t('sent'), m => m.sent_bytes_rate)]}
          />
        </Card>
      </div>
      <Nodes nodes={nodes} />
      <div class="columns">
        <Drops now={now} />
        <Alarms />
      </div>
    </>
  )
}

function Tile(props: { label: string; value: string; to?: string; bad?: boolean }) {
  return (
    <div class={props.bad ? 'tile bad' : 'tile'}>
      <span>{props.to && isShown(props.to) ? <a href={link([props.to])}>{props.label}</a> : props.label}</span>
      <strong>{props.value}</strong>
    </div>
  )
}

function Drops({ now }: { now?: Monitor }) {
  const rows = now && Object.entries(now.dropped_by_reason).filter(([, drops]) => drops.total > 0)
  return (
    <Card title={t('drops')}>
      <Table
        label={t('drops')}
        rows={rows}
        id={([reason]) => reason}
        columns={[
          { head: t('reason'), cell: ([reason]) => tOr(`drop.${reason}`, reason) },
          { head: t('perSecond'), cell: ([, drops]) => rate(drops.rate), number: true },
          { head: t('total'), cell: ([, drops]) => count(drops.total), number: true },
        ]}
      />
    </Card>
  )
}

interface NodeRows {
  rows?: Node[]
  error?: unknown
}

/** The nodes, kept up to date. */
export function useNodes(): NodeRows {
  const first = useLoad(signal => get<Node[]>('nodes', {}, signal))
  const [changed, set] = useState<Node[]>()
  useStream('nodes', set)
  return { rows: changed ?? first.value, error: first.error }
}

export function Nodes({ nodes }: { nodes: NodeRows }) {
  if (isMissing(nodes.error)) return null
  return (
    <Card title={t('nodes')}>
      <Failure error={nodes.error} />
      <Table
        label={t('nodes')}
        rows={nodes.rows}
        id={node => node.node}
        columns={[
          { head: t('node'), cell: node => <Name text={node.node} /> },
          {
            head: t('state'),
            cell: node => <Badge kind={node.node_status === 'running' ? 'good' : 'bad'}>{tOr(`state.${node.node_status}`, node.node_status)}</Badge>,
          },
          { head: t('version'), cell: node => node.version || '–' },
          { head: t('uptime'), cell: node => duration(node.uptime / 1000), number: true },
          { head: t('connected'), cell: node => count(node.live_connections), number: true },
          { head: t('sessions'), cell: node => count(node.connections), number: true },
          { head: t('load'), cell: node => rate(node.load1), number: true },
          { head: t('memory'), cell: node => `${bytes(node.memory_used)} / ${bytes(node.memory_total)}`, number: true },
        ]}
      />
    </Card>
  )
}

function Alarms() {
  const loaded = useLoad(signal => get<Alarm[] | List<Alarm>>('alarms', { activated: true }, signal))
  const [changed, set] = useState<List<Alarm>>()
  useStream('alarms', set)
  const alarms = changed ?? (loaded.value && asList(loaded.value))
  if (isMissing(loaded.error)) return null
  return (
    <Card title={t('alarms')}>
      <Failure error={loaded.error} />
      {!!alarms?.incomplete?.length && <p class="notice warn">{t('incomplete', alarms.incomplete.join(', '))}</p>}
      <Table
        label={t('alarms')}
        rows={alarms?.data}
        columns={[
          { head: t('alarm'), cell: alarm => <Badge kind="bad">{alarm.name}</Badge> },
          { head: t('node'), cell: alarm => <Name text={alarm.node} /> },
          { head: t('message'), cell: alarm => <Name text={alarm.message} /> },
          { head: t('since'), cell: alarm => <Time at={alarm.activate_at} /> },
        ]}
      />
    </Card>
  )
}
