// SPDX-License-Identifier: Apache-2.0
// Rules by topic: each kind is one list, which is read and replaced as a whole.
import type { ComponentChildren } from 'preact'
import { get, put } from '../api'
import { t } from '../i18n'
import { may } from '../session'
import { Card, type Column, Confirm, Failure, Field, Form, Name, Select, Table, useLoad, type Values } from '../ui'

interface Rule {
  name?: string
  read_only?: boolean
}

interface Rewrite extends Rule {
  action: string
  source_topic: string
  re: string
  dest_topic: string
}

interface AutoSubscription extends Rule {
  topic: string
  qos: number
  nl: number
  rap: number
  rh: number
}

interface Policy extends Rule {
  topic: string
  max_payload_size?: number
  msg_expiry_interval?: number
}

interface Check extends Rule {
  name: string
  topics: string[]
  checks: { type: string; schema?: string; sql?: string }[]
  failure_action: string
}

function Rules<T extends Rule>(props: {
  at: string
  title: string
  subject: (rule: T) => string
  columns: Column<T>[]
  made: (values: Values) => T
  children: ComponentChildren
}) {
  const { at, title, subject, columns, made, children } = props
  const list = useLoad(signal => get<T[]>(at, {}, signal), [at])
  // the list of now: another operator may have changed it since it was read
  const replace = async (change: (rules: T[]) => T[]) => {
    await put(at, change(await get<T[]>(at)))
    list.reload()
  }
  const without = (rule: T) => (rules: T[]) => rules.filter(one => JSON.stringify(one) !== JSON.stringify(rule))
  return (
    <Card title={title}>
      {may.operate() && (
        <Form
          label={title}
          action={t('add')}
          submit={async (values, form) => {
            await replace(rules => [...rules, made(values)])
            form.reset()
          }}
        >
          {children}
        </Form>
      )}
      <Failure error={list.error} />
      <Table
        label={title}
        rows={list.value}
        columns={[
          ...columns,
          {
            head: '',
            cell: rule =>
              rule.read_only
                ? t('configuration')
                : may.operate() && (
                    <Confirm
                      label={t('delete')}
                      question={title}
                      subject={subject(rule)}
                      action={() => replace(without(rule))}
                    />
                  ),
          },
        ]}
      />
    </Card>
  )
}

const name = <T,>(text: (rule: T) => string) => (rule: T) => <Name text={text(rule)} whole />

const LEVELS = ['0', '1', '2']

const Choice = (props: { label: string; name: string; values: string[] }) => (
  <Select label={props.label} name={props.name} value={props.values[0]} options={props.values.map(one => [one, one])} />
)

export function TopicRules() {
  return (
    <>
      <Rules<Rewrite>
        at="mqtt/topic_rewrite"
        title={t('topicRewrites')}
        subject={rule => rule.source_topic}
        columns={[
          { head: t('action'), cell: rule => rule.action },
          { head: t('filter'), cell: name(rule => rule.source_topic) },
          { head: t('expression'), cell: name(rule => rule.re) },
          { head: t('newTopic'), cell: name(rule => rule.dest_topic) },
        ]}
        made={values => values as unknown as Rewrite}
      >
        <Choice label={t('action')} name="action" values={['all', 'publish', 'subscribe']} />
        <Field label={t('filter')}>
          <input name="source_topic" required />
        </Field>
        <Field label={t('expression')}>
          <input name="re" required />
        </Field>
        <Field label={t('newTopic')}>
          <input name="dest_topic" required />
        </Field>
      </Rules>
      <Rules<AutoSubscription>
        at="mqtt/auto_subscribe"
        title={t('autoSubscriptions')}
        subject={rule => rule.topic}
        columns={[
          { head: t('filter'), cell: name(rule => rule.topic) },
          { head: 'QoS', cell: rule => rule.qos, number: true },
          { head: 'nl', cell: rule => rule.nl, number: true },
          { head: 'rap', cell: rule => rule.rap, number: true },
          { head: 'rh', cell: rule => rule.rh, number: true },
        ]}
        made={({ topic, qos, nl, rap, rh }) => ({ topic: topic!, qos: +qos!, nl: +!!nl, rap: +!!rap, rh: +rh! })}
      >
        <Field label={t('filter')} wide>
          <input name="topic" required />
        </Field>
        <Choice label="QoS" name="qos" values={LEVELS} />
        <Field label="nl">
          <input name="nl" type="checkbox" />
        </Field>
        <Field label="rap">
          <input name="rap" type="checkbox" />
        </Field>
        <Choice label="rh" name="rh" values={LEVELS} />
      </Rules>
      <Rules<Policy>
        at="mqtt/retainer/policies"
        title={t('retained')}
        subject={rule => rule.topic}
        columns={[
          { head: t('filter'), cell: name(rule => rule.topic) },
          { head: t('maxPayload'), cell: rule => rule.max_payload_size, number: true },
          { head: t('expiry'), cell: rule => rule.msg_expiry_interval, number: true },
        ]}
        made={({ topic, size, expiry }) => ({
          topic: topic!,
          ...(size && { max_payload_size: +size }),
          ...(expiry && { msg_expiry_interval: +expiry }),
        })}
      >
        <Field label={t('filter')} wide>
          <input name="topic" required />
        </Field>
        <Field label={t('maxPayload')}>
          <input name="size" type="number" min="0" />
        </Field>
        <Field label={t('expiry')}>
          <input name="expiry" type="number" min="0" />
        </Field>
      </Rules>
      <Rules<Check>
        at="schema_validations"
        title={t('payloadChecks')}
        subject={rule => rule.name}
        columns={[
          { head: t('name'), cell: name(rule => rule.name) },
          { head: t('filter'), cell: name(rule => rule.topics.join(' ')) },
          { head: 'JSON Schema, SQL', cell: name(rule => rule.checks.map(one => one.schema ?? one.sql).join(' ')) },
          { head: t('action'), cell: rule => rule.failure_action },
        ]}
        made={({ name, topics, schema, sql, failure_action }) => ({
          name: name!,
          topics: topics!.split(' '),
          checks: [...(schema ? [{ type: 'json', schema }] : []), ...(sql ? [{ type: 'sql', sql }] : [])],
          failure_action: failure_action!,
        })}
      >
        <Field label={t('name')}>
          <input name="name" required />
        </Field>
        <Field label={t('filter')} wide>
          <input name="topics" required />
        </Field>
        <Field label="JSON Schema">
          <input name="schema" />
        </Field>
        <Field label="SQL" wide>
          <input name="sql" />
        </Field>
        <Choice label={t('action')} name="failure_action" values={['drop', 'disconnect', 'ignore']} />
      </Rules>
    </>
  )
}
