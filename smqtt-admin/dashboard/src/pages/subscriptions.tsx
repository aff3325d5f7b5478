// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, type List } from '../api'
import { bytes, count } from '../format'
import { t } from '../i18n'
import { link } from '../router'
import { Failure, Field, Form, Name, Select, Table, Tabs, Time, usePages, type Values } from '../ui'
import { options, type Subscription } from './client'

export function Subscriptions() {
  const [tab, show] = useState('all')
  return (
    <>
      <Tabs label={t('subscriptions')} shown={tab} show={show} tabs={[['all', t('all')], ['groups', t('sharedGroups')]]} />
      {tab === 'all' ? <All /> : <Groups />}
    </>
  )
}

function All() {
  const [filters, search] = useState<Values>({})
  const list = usePages<Subscription>(
    paging => get<List<Subscription>>('subscriptions', { ...paging, ...filters }),
    [JSON.stringify(filters)],
  )
  return (
    <>
      <Form label={t('search')} submit={search}>
        <Field label={t('clientId')}>
          <input type="search" name="clientid" />
        </Field>
        <Field label={t('filter')}>
          <input type="search" name="topic" />
        </Field>
        <Field label={t('matchesTopic')}>
          <input type="search" name="match_topic" />
        </Field>
        <Field label={t('group')}>
          <input type="search" name="share_group" />
        </Field>
        <Select label="QoS" name="qos" options={[['', t('all')], ...['0', '1', '2'].map(q => [q, q] as [string, string])]} />
      </Form>
      <Failure error={list.error} />
      <Table
        label={t('subscriptions')}
        rows={list.rows}
        columns={[
          { head: t('filter'), cell: one => <Name text={one.topic} /> },
          {
            head: t('clientId'),
            cell: one => (
              <a href={link(['clients', one.clientid])}>
                <Name text={one.clientid} />
              </a>
            ),
          },
          { head: 'QoS', cell: one => one.qos, number: true },
          { head: t('options'), cell: options },
          { head: t('node'), cell: one => <Name text={one.node} /> },
        ]}
      />
      {list.pager}
    </>
  )
}

interface Group {
  node: string
  share_group: string
  topic: string
  members: number
  members_online: number
  members_inflight: number
  mqueue_len: number
  mqueue_bytes: number
  waiting_since?: string
}

function Groups() {
  const list = usePages<Group>(paging => get<List<Group>>('shared_groups', { ...paging }), [])
  return (
    <>
      <Failure error={list.error} />
      <Table
        label={t('sharedGroups')}
        rows={list.rows}
        columns={[
          { head: t('group'), cell: one => <Name text={one.share_group} /> },
          { head: t('filter'), cell: one => <Name text={one.topic} /> },
          { head: t('node'), cell: one => <Name text={one.node} /> },
          { head: t('membersOnline'), cell: one => `${count(one.members_online)} / ${count(one.members)}`, number: true },
          { head: t('inFlight'), cell: one => count(one.members_inflight), number: true },
          { head: t('lag'), cell: one => `${count(one.mqueue_len)} (${bytes(one.mqueue_bytes)})`, number: true },
          { head: t('waitingSince'), cell: one => <Time at={one.waiting_since} /> },
        ]}
      />
      {list.pager}
    </>
  )
}
