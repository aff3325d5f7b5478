// SPDX-License-Identifier: Apache-2.0
import { get, path, post, remove } from '../api'
import { count, rate } from '../format'
import { t } from '../i18n'
import { may } from '../session'
import { Confirm, Failure, Field, Form, Name, Table, Time, useEvery, useLoad } from '../ui'

const INTERVAL_MILLIS = 5_000

interface TopicMetric {
  topic: string
  create_time: string
  metrics: Record<string, number>
}

const read = (signal: AbortSignal) => get<TopicMetric[]>('mqtt/topic_metrics', {}, signal)

export function TopicMetrics() {
  const list = useLoad(read)
  useEvery(INTERVAL_MILLIS, list.reload)
  const number = (name: string) => (one: TopicMetric) => count(one.metrics[`messages.${name}.count`] ?? 0)
  const perSecond = (name: string) => (one: TopicMetric) => rate(one.metrics[`messages.${name}.rate`] ?? 0)
  return (
    <>
      {may.operate() && (
        <Form
          label={t('countTopic')}
          action={t('countTopic')}
          submit={async ({ topic }, form) => {
            await post('mqtt/topic_metrics', { topic })
            form.reset()
            list.reload()
          }}
        >
          <Field label={t('filter')} wide>
            <input name="topic" required />
          </Field>
        </Form>
      )}
      <Failure error={list.error} />
      <Table
        label={t('topicMetrics')}
        rows={list.value}
        id={one => one.topic}
        columns={[
          { head: t('filter'), cell: one => <Name text={one.topic} /> },
          { head: t('received'), cell: number('in'), number: true },
          { head: t('receivedRate'), cell: perSecond('in'), number: true },
          { head: t('sent'), cell: number('out'), number: true },
          { head: t('sentRate'), cell: perSecond('out'), number: true },
          { head: t('dropped'), cell: number('dropped'), number: true },
          { head: t('since'), cell: one => <Time at={one.create_time} /> },
          {
            head: '',
            cell: one =>
              may.operate() && (
                <Confirm
                  label={t('delete')}
                  question={t('countNoMoreQuestion')}
                  subject={one.topic}
                  action={() => remove(path`mqtt/topic_metrics/${one.topic}`)}
                  done={list.reload}
                />
              ),
          },
        ]}
      />
    </>
  )
}
