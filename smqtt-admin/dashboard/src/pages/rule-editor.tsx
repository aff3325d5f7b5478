// SPDX-License-Identifier: Apache-2.0
// Makes or changes a rule. The fields of an action are those that its type declares; the broker checks them.
import { useRef, useState } from 'preact/hooks'
import { get, path, post, put } from '../api'
import { t } from '../i18n'
import { go } from '../router'
import { Badge, Card, Failure, Field, Form, Select, useLoad, type Values } from '../ui'
import { Keys, NAME, changed, field, read, readType, type Settings } from './keys'
import type { Action, Rule } from './rules'

interface Draft {
  number: number
  name: string
  type: string
  settings: Settings
}

const body = async (values: Values, draft: Draft) => ({
  name: values[field(draft.number, 'name')],
  type: draft.type,
  ...changed(values, draft.number, draft.settings, await readType('action', draft.type)),
})

const drafted = ({ name, type, settings }: Action, number: number): Draft => ({ number, name, type, settings: settings ?? {} })

export function Editor(props: { rule?: Rule; sql: string; change: (sql: string) => void; saved: () => void }) {
  const { rule, sql, change } = props
  const names = useLoad(signal => get<string[]>('action_types', {}, signal))
  const [actions, set] = useState<Draft[]>(() => rule?.actions.map(drafted) ?? [])
  const number = useRef(actions.length)
  const [saved, save] = useState(false)
  const [first] = useState(sql)

  async function submit(values: Values) {
    save(false)
    const made = await Promise.all(actions.map(draft => body(values, draft)))
    const { id = '', description = '' } = values
    const all = { sql, description, enable: rule?.enable ?? true, actions: made }
    if (rule) {
      await put(path`rules/${rule.id}`, all)
      save(true)
      props.saved()
    } else {
      await post('rules', { id, ...all })
      go(['rules', id])
    }
  }

  function add() {
    const type = names.value?.includes('republish') ? 'republish' : (names.value?.[0] ?? '')
    const next = number.current++
    set([...actions, { number: next, name: `action-${next + 1}`, type, settings: {} }])
  }

  return (
    <Card title={t(rule ? 'edit' : 'addRule')} side={<span role="status">{saved && t('saved')}</span>}>
      <Form label={t(rule ? 'edit' : 'addRule')} action={t('save')} submit={submit}>
        {!rule && (
          <Field label={t('name')}>
            <input name="id" required pattern={NAME} autocomplete="off" spellcheck={false} />
          </Field>
        )}
        <Field label={t('description')} wide>
          <input name="description" defaultValue={rule?.description} />
        </Field>
        <div class="whole">
          <Field label={t('statement')}>
            <textarea
              name="sql"
              class="code"
              rows={6}
              required
              spellcheck={false}
              defaultValue={first}
              onInput={event => change(event.currentTarget.value)}
            />
          </Field>
        </div>
        {actions.map(draft => (
          <ActionFields
            key={draft.number}
            rule={rule?.id}
            draft={draft}
            names={names.value ?? [draft.type]}
            change={type => set(actions.map(one => (one === draft ? { ...one, type, settings: {} } : one)))}
            remove={() => set(actions.filter(one => one !== draft))}
          />
        ))}
        <Failure error={names.error} />
        <button type="button" onClick={add} disabled={!names.value?.length}>
          {t('addAction')}
        </button>
      </Form>
    </Card>
  )
}

function ActionFields(props: { rule?: string; draft: Draft; names: string[]; change: (type: string) => void; remove: () => void }) {
  const { draft, names } = props
  const type = useLoad(() => readType('action', draft.type), [draft.type])
  const [checked, show] = useState<{ error?: unknown }>()
  async function probe(form: HTMLFormElement | null) {
    show(undefined)
    try {
      if (form) await post(props.rule ? path`actions_probe?rule=${props.rule}` : 'actions_probe', await body(read(form), draft))
      show({})
    } catch (error) {
      show({ error })
    }
  }
  return (
    <fieldset class="whole">
      <legend>{t('action')}</legend>
      <div class="fields">
        <Field label={t('name')}>
          <input name={field(draft.number, 'name')} defaultValue={draft.name} required pattern={NAME} autocomplete="off" />
        </Field>
        <Select
          label={t('type')}
          name={field(draft.number, 'type')}
          value={draft.type}
          options={(names.includes(draft.type) ? names : [draft.type, ...names]).map(name => [name, name])}
          change={props.change}
        />
        <button type="button" onClick={event => probe(event.currentTarget.form)}>
          {t('checkSink')}
        </button>
        <button type="button" class="danger" onClick={props.remove}>
          {t('removeAction')}
        </button>
      </div>
      <div role="status">{checked && !checked.error && <Badge kind="good">{t('sinkReached')}</Badge>}</div>
      <Failure error={checked?.error} />
      <Failure error={type.error} />
      {type.value?.name === draft.type && (
        <div key={draft.type}>
          <Keys keys={type.value.keys} number={draft.number} settings={draft.settings} />
          <details>
            <summary>{t('queueAndRetries')}</summary>
            <Keys keys={type.value.common_keys} number={draft.number} settings={draft.settings} />
          </details>
        </div>
      )}
    </fieldset>
  )
}
