// SPDX-License-Identifier: Apache-2.0
// The page of one rule: its actions, its editor, and a box to try it out.
import { useState } from 'preact/hooks'
import { get, path } from '../api'
import { count, plain } from '../format'
import { t } from '../i18n'
import { link } from '../router'
import { may } from '../session'
import { Badge, Card, Facts, Failure, Name, Table, useEvery, useLoad } from '../ui'
import { Editor } from './rule-editor'
import { Trial } from './rule-trial'
import { Changes, INTERVAL_MILLIS, Incomplete, NEW, State, type Action, type Rule } from './rules'

const SAMPLE = 'SELECT payload.t AS t, clientid\nFROM "sensors/#"\nWHERE payload.t > 40'
const STATES: Record<string, 'good' | 'bad' | 'plain'> = { connected: 'good', disconnected: 'bad', inconsistent: 'bad' }

export function RulePage({ id }: { id: string }) {
  const made = id !== NEW
  const loaded = useLoad(signal => (made ? get<Rule>(path`rules/${id}`, {}, signal) : Promise.resolve(undefined)), [id])
  useEvery(INTERVAL_MILLIS, loaded.reload)
  const rule = loaded.value
  const [typed, type] = useState<string>()
  const sql = typed ?? rule?.sql ?? (made ? '' : SAMPLE)
  const edited = may.administer() && (!made || rule?.source === 'api')
  return (
    <>
      <p class="crumbs">
        <a href={link(['rules'])}>{t('rules')}</a> / {made ? <Name text={id} /> : t('addRule')}
      </p>
      <Failure error={loaded.error} />
      <Incomplete nodes={rule?.incomplete} />
      {rule && <Shown rule={rule} edited={edited} done={loaded.reload} />}
      {edited && (!made || rule) && <Editor rule={rule} sql={sql} change={type} saved={loaded.reload} />}
      {may.operate() && (!made || rule) && <Trial sql={sql} />}
    </>
  )
}

function Shown({ rule, edited, done }: { rule: Rule; edited: boolean; done: () => void }) {
  return (
    <Card title={t('rule')} side={<Changes rule={rule} done={done} />}>
      <Facts
        items={[
          [t('state'), <State rule={rule} />],
          [t('description'), <Name text={rule.description} whole />],
          [t('filters'), <Name text={rule.from.join(' · ')} whole />],
          [t('matched'), count(rule.metrics.matched)],
          [t('passed'), count(rule.metrics.passed)],
          [t('noResult'), count(rule.metrics['failed.no_result'])],
          [t('failed'), count(rule.metrics['failed.exception'])],
        ]}
      />
      {!edited && (
        <>
          <pre class="payload" tabIndex={0} role="region" aria-label={t('statement')} dir="ltr">
            {rule.sql.split('\n').map(plain).join('\n')}
          </pre>
          {rule.source === 'file' && <p class="dim">{t('ruleOfFile')}</p>}
        </>
      )}
      <ActionTable actions={rule.actions} />
    </Card>
  )
}

function ActionTable({ actions }: { actions: Action[] }) {
  const number = (name: string) => (one: Action) => count(one.metrics[name] ?? 0)
  return (
    <Table
      label={t('actions')}
      rows={actions}
      id={one => one.name}
      columns={[
        { head: t('action'), cell: one => <Name text={one.name} /> },
        { head: t('type'), cell: one => <Name text={one.type} /> },
        {
          head: t('state'),
          cell: one => (
            <>
              <Badge kind={STATES[one.status] ?? 'plain'}>{t(one.status === 'connected' ? 'running' : one.status === 'stopped' ? 'stopped' : 'failing')}</Badge>{' '}
              {one.node_status
                .filter(each => each.status_reason)
                .map(each => (
                  <div key={each.node}>
                    <Name text={`${each.node}: ${each.status_reason}`} whole />
                  </div>
                ))}
            </>
          ),
        },
        { head: t('matched'), cell: number('matched'), number: true },
        { head: t('success'), cell: number('success'), number: true },
        { head: t('queued'), cell: number('queued'), number: true },
        { head: t('waiting'), cell: number('waiting'), number: true },
        { head: t('dead'), cell: number('dead'), number: true },
        { head: t('dropped'), cell: one => count((one.metrics.dropped ?? 0) + (one.metrics.queue_dropped ?? 0)), number: true },
        { head: t('retried'), cell: number('retried'), number: true },
      ]}
    />
  )
}
