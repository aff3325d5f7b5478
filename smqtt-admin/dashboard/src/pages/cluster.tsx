// SPDX-License-Identifier: Apache-2.0
import { get } from '../api'
import { bytes, count, duration } from '../format'
import { t, tOr } from '../i18n'
import { Badge, Card, Facts, Failure, Name, Table, useLoad } from '../ui'
import { Nodes, useNodes } from './overview'

interface Member {
  'node-id': string
  address: string
  version: string
  routes: number
  reachable?: boolean
  'route-lag'?: number
  'heard-ms'?: number
  'queued-messages'?: number
  'queued-bytes'?: number
  'parked-messages'?: number
  'dropped-messages'?: Record<string, number>
}

interface Status {
  state?: string
  ready?: boolean
  'min-members'?: number
  self: Member
  peers?: Member[]
  traffic?: Record<string, unknown>
}

export function Cluster() {
  const loaded = useLoad(signal => get<{ status: Status | null }>('cluster', {}, signal))
  const nodes = useNodes()
  const status = loaded.value?.status
  return (
    <>
      <Nodes nodes={nodes} />
      <Failure error={loaded.error} />
      {status === null && <p class="notice">{t('single')}</p>}
      {status && <Members status={status} reload={loaded.reload} />}
    </>
  )
}

const sum = (counts: Record<string, number> = {}) => Object.values(counts).reduce((a, b) => a + b, 0)

function Members({ status, reload }: { status: Status; reload: () => void }) {
  const figures = Object.entries(status.traffic ?? {}).filter((one): one is [string, number] => typeof one[1] === 'number')
  return (
    <>
      <Card
        title={t('seenFrom', status.self['node-id'])}
        side={
          <button type="button" onClick={reload}>
            {t('refresh')}
          </button>
        }
      >
        <Facts
          items={[
            [t('state'), tOr(`state.${status.state}`, status.state ?? '')],
            [t('ready'), t(status.ready ? 'yes' : 'no')],
            [t('minMembers'), count(status['min-members'])],
            [t('routes'), count(status.self.routes)],
          ]}
        />
        <Table
          label={t('otherNodes')}
          rows={status.peers}
          id={one => one['node-id']}
          columns={[
            { head: t('node'), cell: one => <Name text={one['node-id']} /> },
            {
              head: t('state'),
              cell: one => <Badge kind={one.reachable ? 'good' : 'bad'}>{t(one.reachable ? 'reachable' : 'unreachable')}</Badge>,
            },
            { head: t('address'), cell: one => <Name text={one.address} /> },
            { head: t('version'), cell: one => one.version },
            { head: t('routes'), cell: one => count(one.routes), number: true },
            { head: t('routeLag'), cell: one => count(one['route-lag']), number: true },
            { head: t('heard'), cell: one => duration((one['heard-ms'] ?? 0) / 1000), number: true },
            { head: t('queued'), cell: one => `${count(one['queued-messages'])} (${bytes(one['queued-bytes'])})`, number: true },
            { head: t('parked'), cell: one => count(one['parked-messages']), number: true },
            { head: t('dropped'), cell: one => count(sum(one['dropped-messages'])), number: true },
          ]}
        />
      </Card>
      <Card title={t('traffic')}>
        <Facts items={figures.map(([name, value]) => [name, name.endsWith('bytes') ? bytes(value) : count(value)])} />
      </Card>
    </>
  )
}
