// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, path, type List } from '../api'
import { count, plain } from '../format'
import { t, tOr } from '../i18n'
import { link, type Route } from '../router'
import { Badge, Card, Facts, Failure, Field, Form, Name, Table, usePages } from '../ui'

interface Receiver {
  id: string
  filters: string[]
  qos: number
  online: boolean
  receive: string
  inFlight: number
  queued: number
  outcome: string
  reason?: string | null
}

interface Explanation {
  topic: string
  clientId?: string | null
  publish: string
  retained: boolean
  filters: { filter: string; path: string[]; subscribers: number }[]
  receivers: Receiver[]
  groups: { name: string; filter: string; members: string[]; online: number }[]
  nodes: string[]
  moreReceivers: number
  incomplete?: string[]
}

export function Topics({ route }: { route: Route }) {
  return (
    <>
      <Explain topic={route.query.get('topic') ?? ''} client={route.query.get('clientid') ?? ''} />
      <TopicList />
    </>
  )
}

function Explain(props: { topic: string; client: string }) {
  const [found, set] = useState<Explanation>()
  return (
    <Card title={t('explain')}>
      <p class="dim">{t('explainHelp')}</p>
      <Form
        label={t('explain')}
        action={t('explain')}
        submit={async ({ topic = '', clientid }) => set(await get<Explanation>('explain', { topic, clientid }))}
      >
        <Field label={t('topic')} wide>
          <input name="topic" defaultValue={props.topic} required />
        </Field>
        <Field label={t('publisher')}>
          <input name="clientid" defaultValue={props.client} placeholder={t('optional')} />
        </Field>
      </Form>
      {found && <Explained found={found} />}
    </Card>
  )
}

const kindOf: Record<string, 'good' | 'warn' | 'bad'> = { SENT: 'good', QUEUED: 'warn', DROPPED: 'bad' }

function Explained({ found }: { found: Explanation }) {
  const nobody = !found.receivers.length && !found.groups.length && !found.nodes.length
  return (
    <>
      <Facts
        items={[
          [t('mayPublish'), tOr(`verdict.${found.publish}`, found.publish)],
          [t('hasRetained'), t(found.retained ? 'yes' : 'no')],
          [t('otherNodes'), found.nodes.length ? plain(found.nodes.join(', ')) : '–'],
        ]}
      />
      {nobody ? (
        <p class="notice warn">{t('nobody')}</p>
      ) : (
        <Table
          label={t('receivers')}
          rows={found.receivers}
          id={one => one.id}
          columns={[
            {
              head: t('receiver'),
              cell: one => (
                <a href={link(['clients', one.id])}>
                  <Name text={one.id} />
                </a>
              ),
            },
            {
              head: t('outcome'),
              cell: one => <Badge kind={kindOf[one.outcome] ?? 'warn'}>{tOr(`outcome.${one.outcome}`, one.outcome)}</Badge>,
            },
            { head: t('why'), cell: why },
            { head: t('filters'), cell: one => <Name text={one.filters.join(' · ')} /> },
            { head: 'QoS', cell: one => one.qos, number: true },
            { head: t('inFlight'), cell: one => count(one.inFlight), number: true },
            { head: t('queued'), cell: one => count(one.queued), number: true },
          ]}
        />
      )}
      {found.groups.length > 0 && (
        <Table
          label={t('sharedGroups')}
          rows={found.groups}
          columns={[
            { head: t('group'), cell: one => <Name text={one.name} /> },
            { head: t('filter'), cell: one => <Name text={one.filter} /> },
            { head: t('oneOf'), cell: one => <Name text={one.members.join(', ')} /> },
            { head: t('connected'), cell: one => count(one.online), number: true },
          ]}
        />
      )}
      {found.moreReceivers > 0 && <p class="dim">{t('moreReceivers', count(found.moreReceivers))}</p>}
    </>
  )
}

function why(one: Receiver): string {
  if (one.reason) return tOr(`drop.${one.reason.toLowerCase()}`, one.reason)
  if (one.receive === 'DENIED') return t('verdict.DENIED')
  return t(one.online ? 'connected' : 'offline')
}

function TopicList() {
  const [topic, search] = useState('')
  const list = usePages<{ topic: string; node: string }>(
    paging => get<List<{ topic: string; node: string }>>('topics', { ...paging, topic }),
    [topic],
  )
  return (
    <Card title={t('routedFilters')}>
      <Form label={t('search')} submit={values => search(values.topic ?? '')}>
        <Field label={t('filter')} wide>
          <input type="search" name="topic" />
        </Field>
      </Form>
      <Failure error={list.error} />
      <Table
        label={t('routedFilters')}
        rows={list.rows}
        columns={[
          { head: t('filter'), cell: one => <Name text={one.topic} /> },
          { head: t('node'), cell: one => <Name text={one.node} /> },
        ]}
      />
      {list.pager}
    </Card>
  )
}

export const retainedPath = (topic: string) => path`mqtt/retainer/message/${topic}`
