// SPDX-License-Identifier: Apache-2.0
// The rules with their counts.
import { get, path, post, remove, type List } from '../api'
import { count } from '../format'
import { t } from '../i18n'
import { go, link, type Route } from '../router'
import { may } from '../session'
import { Badge, Confirm, Failure, Name, Table, useEvery, useLoad } from '../ui'

export const INTERVAL_MILLIS = 5_000

/** No rule can have this name. */
export const NEW = '+'

type Metrics = Record<string, number | undefined>

export interface Action {
  name: string
  type: string
  status: string
  metrics: Metrics
  node_status: { node: string; status: string; status_reason?: string }[]
  settings?: Record<string, string>
}

export interface Rule {
  id: string
  description: string
  sql: string
  from: string[]
  enable: boolean
  source: string
  actions: Action[]
  metrics: Metrics
  incomplete?: string[]
}

export const Rules = ({ route }: { route: Route }) =>
  route.parts[1] ? <One key={route.parts[1]} id={route.parts[1]} /> : <RuleList />

/** The page of one rule is loaded with its editor when it is opened. */
function One({ id }: { id: string }) {
  const loaded = useLoad(() => import('./rule'))
  if (!loaded.value) return loaded.error ? <Failure error={loaded.error} /> : <p class="dim empty">{t('loading')}</p>
  return <loaded.value.RulePage id={id} />
}

/** Sums of counts over the actions of a rule. */
const sum = (rule: Rule, ...names: string[]) =>
  count(rule.actions.reduce((all, { metrics }) => names.reduce((n, name) => n + (metrics[name] ?? 0), all), 0))

export function State({ rule }: { rule: Rule }) {
  if (!rule.enable) return <Badge kind="plain">{t('stopped')}</Badge>
  return rule.actions.some(one => one.status !== 'connected') ? <Badge kind="bad">{t('failing')}</Badge> : <Badge kind="good">{t('running')}</Badge>
}

export const Incomplete = ({ nodes }: { nodes?: string[] }) =>
  nodes?.length ? <p class="notice warn">{t('incomplete', nodes.join(', '))}</p> : null

function RuleList() {
  const list = useLoad(signal => get<List<Rule>>('rules', {}, signal))
  useEvery(INTERVAL_MILLIS, list.reload)
  const number = (name: string) => (rule: Rule) => count(rule.metrics[name] ?? 0)
  return (
    <>
      {may.administer() && (
        <p>
          <a class="button" href={link(['rules', NEW])}>
            {t('addRule')}
          </a>
        </p>
      )}
      <Failure error={list.error} />
      <Incomplete nodes={list.value?.incomplete} />
      <Table
        label={t('rules')}
        rows={list.value?.data}
        id={rule => rule.id}
        columns={[
          {
            head: t('rule'),
            cell: rule => (
              <a href={link(['rules', rule.id])}>
                <Name text={rule.id} />
              </a>
            ),
          },
          { head: t('state'), cell: rule => <State rule={rule} /> },
          { head: t('matched'), cell: number('matched'), number: true },
          { head: t('passed'), cell: number('passed'), number: true },
          { head: t('failed'), cell: number('failed'), number: true },
          { head: t('success'), cell: rule => sum(rule, 'success'), number: true },
          { head: t('queued'), cell: rule => sum(rule, 'queued', 'waiting'), number: true },
          { head: t('dead'), cell: rule => sum(rule, 'dead'), number: true },
          { head: t('dropped'), cell: rule => sum(rule, 'dropped', 'queue_dropped'), number: true },
          { head: t('description'), cell: rule => <Name text={rule.description} /> },
          { head: '', cell: rule => <Changes rule={rule} done={list.reload} /> },
        ]}
      />
    </>
  )
}

/** What an administrator can do with a rule of the API. */
export function Changes({ rule, done }: { rule: Rule; done: () => void }) {
  if (!may.administer() || rule.source !== 'api') return null
  const what = rule.enable ? 'stop' : 'start'
  return (
    <span class="buttons">
      <Confirm
        label={t(what)}
        question={t(rule.enable ? 'ruleStopQuestion' : 'ruleStartQuestion')}
        subject={rule.id}
        action={() => post(path`rules/${rule.id}/${what}`)}
        done={done}
      />
      <Confirm
        label={t('delete')}
        question={t('ruleDeleteQuestion')}
        subject={rule.id}
        action={() => remove(path`rules/${rule.id}`)}
        done={() => (location.hash === link(['rules']) ? done() : go(['rules']))}
      />
    </span>
  )
}
