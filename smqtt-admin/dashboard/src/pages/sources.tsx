// SPDX-License-Identifier: Apache-2.0
// The sources with their states, rates and counts.
import { useEffect, useRef, useState } from 'preact/hooks'
import { get, path, post, remove, type List } from '../api'
import { count, rate } from '../format'
import { t, tOr, type Key } from '../i18n'
import { go, link, type Route } from '../router'
import { may } from '../session'
import { Badge, Confirm, Failure, Name, Table, useEvery, useLoad } from '../ui'
import { Incomplete, INTERVAL_MILLIS, NEW } from './rules'

export const COUNTS: [keyof Metrics, Key][] = [
  ['received', 'received'],
  ['published', 'published'],
  ['refused', 'refused'],
  ['failed', 'failed'],
  ['inflight', 'inFlight'],
  ['rejected', 'rejected'],
]

interface Metrics {
  received: number
  published: number
  refused: number
  failed: number
  inflight: number
  rejected: number
}

export interface OnNode {
  node: string
  status: string
  status_reason?: string
  metrics: Metrics
}

export interface Source {
  id: string
  type: string
  enable: boolean
  source: string
  status: string
  metrics: Metrics
  settings?: Record<string, string>
  node_status: OnNode[]
  incomplete?: string[]
}

const KINDS: Record<string, 'good' | 'bad' | 'warn' | 'plain'> = { running: 'good', failing: 'bad', paused: 'warn', inconsistent: 'warn' }

export const Sources = ({ route }: { route: Route }) =>
  route.parts[1] ? <One key={route.parts[1]} id={route.parts[1]} /> : <SourceList />

/** The page of one source is loaded with its editor when it is opened. */
function One({ id }: { id: string }) {
  const loaded = useLoad(() => import('./source'))
  if (!loaded.value) return loaded.error ? <Failure error={loaded.error} /> : <p class="dim empty">{t('loading')}</p>
  return <loaded.value.SourcePage id={id} />
}

export function State({ status, reason }: { status: string; reason?: string }) {
  return (
    <>
      <Badge kind={KINDS[status] ?? 'plain'}>{tOr(`source.${status}`, status)}</Badge> {reason && <Name text={reason} />}
    </>
  )
}

const state = (source: Source) => (source.enable ? source.status : 'disabled')

/** Published messages per second between the last two answers; none at first, and after counts have begun again. */
function useRates(sources?: Source[]): Map<string, number> {
  const last = useRef({ at: 0, counts: new Map<string, number>() })
  const [rates, set] = useState(new Map<string, number>())
  useEffect(() => {
    if (!sources) return
    const { at, counts } = last.current
    const now = performance.now()
    const next = new Map<string, number>()
    for (const { id, metrics } of sources) {
      const before = counts.get(id)
      if (before !== undefined && metrics.published >= before) next.set(id, ((metrics.published - before) * 1_000) / (now - at))
    }
    last.current = { at: now, counts: new Map(sources.map(({ id, metrics }) => [id, metrics.published])) }
    set(next)
  }, [sources])
  return rates
}

function SourceList() {
  const list = useLoad(signal => get<List<Source>>('sources', {}, signal))
  useEvery(INTERVAL_MILLIS, list.reload)
  const rates = useRates(list.value?.data)
  return (
    <>
      {may.administer() && (
        <p>
          <a class="button" href={link(['sources', NEW])}>
            {t('addSource')}
          </a>
        </p>
      )}
      <Failure error={list.error} />
      <Incomplete nodes={list.value?.incomplete} />
      <Table
        label={t('sources')}
        rows={list.value?.data}
        id={source => source.id}
        columns={[
          {
            head: t('source'),
            cell: source => (
              <a href={link(['sources', source.id])}>
                <Name text={source.id} />
              </a>
            ),
          },
          { head: t('type'), cell: source => <Name text={source.type} /> },
          { head: t('state'), cell: source => <State status={state(source)} reason={source.node_status.find(one => one.status_reason)?.status_reason} /> },
          { head: t('perSecond'), cell: source => rate(rates.get(source.id)), number: true },
          ...COUNTS.map(([name, head]) => ({ head: t(head), cell: (source: Source) => count(source.metrics[name]), number: true })),
          { head: '', cell: source => <Changes source={source} done={list.reload} /> },
        ]}
      />
    </>
  )
}

/** What an administrator can do with a source; those of the configuration file can be stopped and started only. */
export function Changes({ source, done }: { source: Source; done: () => void }) {
  if (!may.administer()) return null
  const act = (what: 'start' | 'stop' | 'restart' | 'enable' | 'disable', question: Key) => (
    <Confirm label={t(what)} question={t(question)} subject={source.id} action={() => post(path`sources/${source.id}/${what}`)} done={done} />
  )
  return (
    <span class="buttons">
      {source.enable &&
        (source.status === 'stopped' ? (
          act('start', 'sourceStartQuestion')
        ) : (
          <>
            {act('stop', 'sourceStopQuestion')}
            {act('restart', 'sourceRestartQuestion')}
          </>
        ))}
      {source.source === 'api' && (
        <>
          {source.enable ? act('disable', 'sourceDisableQuestion') : act('enable', 'sourceEnableQuestion')}
          <Confirm
            label={t('delete')}
            question={t('sourceDeleteQuestion')}
            subject={source.id}
            action={() => remove(path`sources/${source.id}`)}
            done={() => (location.hash === link(['sources']) ? done() : go(['sources']))}
          />
        </>
      )}
    </span>
  )
}
