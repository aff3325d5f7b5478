// SPDX-License-Identifier: Apache-2.0
// Evaluates the statement of a rule for a message that is made up, while a person types.
import { useEffect, useState } from 'preact/hooks'
import { Problem, address, send } from '../api'
import { plain } from '../format'
import { t } from '../i18n'
import { Badge, Card, Failure, Field, Name, Table, useLoad } from '../ui'

const PAUSE_MILLIS = 500
const FIRST = { topic: '', clientid: 'kitchen', qos: '1', payload: '{"t": 41.5}', more: '' }

type Sample = typeof FIRST

interface Clause {
  clause: string
  text: string
  value?: unknown
  failure?: string
}

interface Result {
  rows: unknown[]
  problem?: string | null
  clauses: Clause[]
}

async function evaluate(sql: string, { topic, qos, more, ...fields }: Sample, signal: AbortSignal): Promise<Result | undefined> {
  if (!sql.trim()) return undefined
  const context = { ...fields, ...(topic && { topic }), qos: Number(qos), ...(more.trim() ? JSON.parse(more) : {}) }
  const answer = await send('POST', address('rule_test', { trace: true }), { sql, context }, signal)
  return (await answer.json()) as Result
}

/** A value that has not changed for a moment. */
function usePause<T>(value: T): T {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => settle(value), PAUSE_MILLIS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

export function Trial({ sql }: { sql: string }) {
  const [sample, set] = useState(FIRST)
  const [statement, fields] = [usePause(sql), usePause(sample)]
  const { value, error } = useLoad(signal => evaluate(statement, fields, signal), [statement, fields])
  const field = (name: keyof Sample) => ({
    name: `sample-${name}`,
    defaultValue: FIRST[name],
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => set(old => ({ ...old, [name]: currentTarget.value })),
  })
  return (
    <Card title={t('tryOut')}>
      <p class="dim">{t('tryOutHelp')}</p>
      <div class="fields">
        <Field label={t('topic')}>
          <input {...field('topic')} placeholder={t('topicOfFrom')} />
        </Field>
        <Field label={t('clientId')}>
          <input {...field('clientid')} />
        </Field>
        <Field label="QoS">
          <input type="number" min="0" max="2" {...field('qos')} />
        </Field>
        <Field label={t('payload')} wide>
          <textarea rows={3} class="code" {...field('payload')} />
        </Field>
        <Field label={t('moreFields')} wide>
          <textarea rows={3} class="code" placeholder='{"username": "ann"}' {...field('more')} />
        </Field>
      </div>
      {error !== undefined ? <Mistake error={error} /> : value && <Outcome result={value} />}
    </Card>
  )
}

/** A mistake in the statement has its line with a caret below it, which must stay in their columns. */
function Mistake({ error }: { error: unknown }) {
  if (!(error instanceof Problem) || error.status !== 400) return <Failure error={error} />
  return (
    <div role="alert">
      <pre class="notice bad place" tabIndex={0} role="region" aria-label={t('reason')} dir="ltr">
        {error.message.split('\n').map(plain).join('\n')}
      </pre>
    </div>
  )
}

function Outcome({ result }: { result: Result }) {
  return (
    <>
      <p role="status">
        {result.problem ? (
          <>
            <Badge kind="warn">{t('notSelected')}</Badge> <Name text={result.problem} />
          </>
        ) : (
          <Badge kind="good">{t('selected', result.rows.length)}</Badge>
        )}
      </p>
      <Table
        label={t('clauses')}
        rows={result.clauses}
        columns={[
          { head: t('clause'), cell: one => one.clause },
          { head: t('text'), cell: one => <Name text={one.text} /> },
          { head: t('result'), cell: one => (one.failure ? <Failure error={one.failure} /> : <Name text={JSON.stringify(one.value)} />) },
        ]}
      />
      {result.rows.length > 0 && (
        <pre tabIndex={0} role="region" aria-label={t('result')} class="payload" dir="ltr">
          {result.rows.map(row => JSON.stringify(row, null, 2)).join('\n').split('\n').map(plain).join('\n')}
        </pre>
      )}
    </>
  )
}
