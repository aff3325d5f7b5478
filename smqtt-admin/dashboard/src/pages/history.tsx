// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, path } from '../api'
import { Chart } from '../chart'
import { bytes, percent } from '../format'
import { t, type Key } from '../i18n'
import { useTheme } from '../theme'
import { Card, Failure, Select, Tabs, useLoad } from '../ui'
import type { Node } from './overview'

/** A sample; received, sent, dropped and their bytes are counts of the interval that ends at the time stamp. */
type Sample = Record<string, number> & { time_stamp: number; interval: number }

const RANGES: Record<string, number> = { '1h': 3_600, '1d': 86_400, '7d': 604_800 }

const perSecond = (name: string) => (sample: Sample) => (sample[name] ?? 0) / (sample.interval || 10)
const plain = (name: string) => (sample: Sample) => sample[name] ?? 0

type Series = [Key, (sample: Sample) => number][]
const CHARTS: [Key, Series, ((value: number) => string)?][] = [
  ['messagesPerSecond', [['received', perSecond('received')], ['sent', perSecond('sent')], ['dropped', perSecond('dropped')]]],
  ['bytesPerSecond', [['received', perSecond('received_bytes')], ['sent', perSecond('sent_bytes')]], bytes],
  ['clients', [['connected', plain('live_connections')], ['sessions', plain('connections')], ['subscriptions', plain('subscriptions')]]],
  ['messagesHeld', [['queued', plain('mqueue')], ['inFlight', plain('inflight')], ['retained', plain('retained_msg_count')]]],
  ['cpu', [['cpu', s => (s.cpu ?? 0)]], percent],
  ['memory', [['memory', plain('memory_used')]], bytes],
]

export function History() {
  const [range, setRange] = useState('1h')
  const [node, setNode] = useState('')
  const theme = useTheme()
  const nodes = useLoad(signal => get<Node[]>('nodes', {}, signal))
  const samples = useLoad(
    signal => get<Sample[]>(node ? path`monitor/nodes/${node}` : 'monitor', { latest: RANGES[range] }, signal),
    [range, node],
  )
  const rows = samples.value ?? []
  const times = rows.map(sample => sample.time_stamp / 1000)
  return (
    <>
      <div class="fields">
        <Tabs
          label={t('range')}
          shown={range}
          show={setRange}
          tabs={[['1h', t('hour')], ['1d', t('day')], ['7d', t('week')]]}
        />
        <Select
          label={t('node')}
          name="node"
          value={node}
          change={setNode}
          options={[['', t('all')], ...(nodes.value ?? []).map(one => [one.node, one.node] as [string, string])]}
        />
        <button type="button" onClick={samples.reload}>
          {t('refresh')}
        </button>
      </div>
      <Failure error={samples.error} />
      <div class="columns">
        {CHARTS.map(([title, series, format]) => (
          <Card title={t(title)} key={title}>
            <Chart
              label={t(title)}
              theme={theme}
              times={times}
              format={format}
              lines={series.map(([label, value]) => ({ label: t(label), values: rows.map(value) }))}
            />
          </Card>
        ))}
      </div>
    </>
  )
}
