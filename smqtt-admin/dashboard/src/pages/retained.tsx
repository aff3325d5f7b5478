// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { get, path, remove, type List } from '../api'
import { bytes } from '../format'
import { t } from '../i18n'
import { may } from '../session'
import { Confirm, Failure, Field, Form, Name, Table, Time, usePages } from '../ui'
import { Payload } from './payload'

interface Retained {
  msgid: string
  topic: string
  qos: number
  publish_at?: string
  from_clientid?: string
  payload?: string
  payload_size?: number
}

export function Retained() {
  const [topic, search] = useState('')
  const [chosen, choose] = useState<Retained>()
  const [error, fail] = useState<unknown>()
  const list = usePages<Retained>(
    async paging => {
      const page = await get<List<Retained>>('mqtt/retainer/messages', { ...paging, topic })
      return { ...page, meta: { ...page.meta, count: undefined } } // it includes topics below $SYS, which are not in the list
    },
    [topic],
    'page',
  )
  async function show(one: Retained) {
    fail(undefined)
    try {
      choose(await get<Retained>(path`mqtt/retainer/message/${one.topic}`))
    } catch (caught) {
      fail(caught)
    }
  }
  function removed() {
    choose(undefined)
    list.reload()
  }
  return (
    <>
      <Form label={t('search')} submit={values => search(values.topic ?? '')}>
        <Field label={t('filter')} wide>
          <input type="search" name="topic" placeholder="sensors/+/temperature" />
        </Field>
      </Form>
      {may.operate() && topic && (
        <p class="buttons">
          <Confirm
            label={t('deleteAll')}
            question={t('deleteAllQuestion')}
            subject={topic}
            action={() => remove('mqtt/retainer/messages', { topic })}
            done={removed}
          />
        </p>
      )}
      <Failure error={list.error ?? error} />
      <Table
        label={t('retained')}
        rows={list.rows}
        id={one => one.topic}
        columns={[
          { head: t('topic'), cell: one => <Name text={one.topic} /> },
          { head: 'QoS', cell: one => one.qos, number: true },
          { head: t('size'), cell: one => bytes(one.payload_size), number: true },
          { head: t('published'), cell: one => <Time at={one.publish_at} /> },
          { head: t('from'), cell: one => <Name text={one.from_clientid} /> },
          {
            head: '',
            cell: one => (
              <span class="buttons">
                <button type="button" onClick={() => show(one)}>
                  {t('show')}
                </button>
                {may.operate() && (
                  <Confirm
                    label={t('delete')}
                    question={t('deleteQuestion')}
                    subject={one.topic}
                    action={() => remove('mqtt/retainer/messages', { topic: one.topic })}
                    done={removed}
                  />
                )}
              </span>
            ),
          },
        ]}
      />
      {list.pager}
      {chosen && <Payload topic={chosen.topic} base64={chosen.payload ?? ''} />}
    </>
  )
}
