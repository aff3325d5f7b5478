// SPDX-License-Identifier: Apache-2.0
// Makes or changes a rule. The fields of an action are those that its type declares; the broker checks them.
import { useRef, useState } from 'preact/hooks'
import { get, path, post, put } from '../api'
import { t } from '../i18n'
import { go } from '../router'
import { Badge, Card, Code, Failure, Field, Form, Select, useLoad, type Values } from '../ui'
import type { Action, Rule } from './rules'

interface Key {
  name: string
  type: string
  default?: string
  minimum?: string
  maximum?: string
  enum?: string[]
  required: boolean
  secret: boolean
  description: string
}

interface Type {
  name: string
  keys: Key[]
  common_keys: Key[]
}

type Settings = Record<string, string>

interface Draft {
  number: number
  name: string
  type: string
  settings: Settings
}

const NAME = '[a-z0-9][a-z0-9\\-]{0,63}'
const types = new Map<string, Promise<Type>>()

/** The declaration of a type; it stays the same as long as the broker runs. */
function readType(name: string): Promise<Type> {
  let type = types.get(name)
  if (!type) {
    type = get<Type>(path`action_types/${name}`)
    type.catch(() => types.delete(name))
    types.set(name, type)
  }
  return type
}

const field = (number: number, key: string) => `${number}:${key}`

/** The settings that differ from the defaults, and those of the rule that the form does not show. */
function settings(values: Values, draft: Draft, type: Type): Settings {
  const all: Settings = {}
  const keys = [...type.keys, ...type.common_keys]
  for (const [name, text] of Object.entries(draft.settings)) {
    const shown = keys.some(key => name === key.name || (key.type === 'entries' && name.startsWith(`${key.name}.`)))
    if (!shown && name !== 'type') all[name] = text
  }
  for (const key of keys) {
    const text = values[field(draft.number, key.name)]?.replaceAll('\r\n', '\n') ?? ''
    if (key.type === 'entries') {
      for (const line of text.split('\n').filter(line => line.trim())) {
        const [, name, value] = /^([^:]*):\s?(.*)$/s.exec(line) ?? ['', line, '']
        all[`${key.name}.${name!.trim()}`] = value!
      }
    } else if (key.type === 'flag') {
      const flag = String(text !== '')
      if (flag !== key.default) all[key.name] = flag
    } else if (text !== '' && text !== key.default) {
      all[key.name] = text
    }
  }
  return all
}

const body = async (values: Values, draft: Draft) => ({
  name: values[field(draft.number, 'name')],
  type: draft.type,
  ...settings(values, draft, await readType(draft.type)),
})

function read(form: HTMLFormElement): Values {
  const values: Values = {}
  new FormData(form).forEach((value, name) => (values[name] = String(value)))
  return values
}

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
  const type = useLoad(() => readType(draft.type), [draft.type])
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
          <Keys keys={type.value.keys} draft={draft} />
          <details>
            <summary>{t('queueAndRetries')}</summary>
            <Keys keys={type.value.common_keys} draft={draft} />
          </details>
        </div>
      )}
    </fieldset>
  )
}

/** A field for each key, with its text, which is in English as the documentation is. */
const Keys = ({ keys, draft }: { keys: Key[]; draft: Draft }) => (
  <div class="keys">
    {keys.map(key => {
      const id = field(draft.number, key.name)
      return (
        <div key={key.name}>
          <label for={id}>
            <code>{key.name}</code> {key.required && <span class="dim">{t('required')}</span>}
          </label>
          <Input of={key} id={id} settings={draft.settings} />
          <p class="dim" id={`${id}-text`}>
            <span lang="en">
              <Code text={key.description} />
            </span>
            {key.type === 'entries' && `; ${t('oneOfEachLine')}`}
            {key.minimum && ` (${key.minimum} – ${key.maximum})`}
          </p>
        </div>
      )
    })}
  </div>
)

function Input({ of, id, settings }: { of: Key; id: string; settings: Settings }) {
  const given = settings[of.name]
  const common = { id, name: id, 'aria-describedby': `${id}-text` }
  if (of.type === 'choice') {
    return (
      <select {...common}>
        {of.enum?.map(word => (
          <option value={word} selected={word === (given ?? of.default)}>
            {word}
          </option>
        ))}
      </select>
    )
  }
  if (of.type === 'flag') return <input {...common} type="checkbox" defaultChecked={(given ?? of.default) === 'true'} />
  const written = { ...common, required: of.required, placeholder: of.default, autocomplete: 'off', spellcheck: false }
  if (of.secret) return <input {...written} type="password" autocomplete="new-password" defaultValue={given} />
  if (of.type === 'number') return <input {...written} type="number" min={of.minimum} max={of.maximum} defaultValue={given} />
  if (of.type === 'template') return <textarea {...written} class="code" rows={1} defaultValue={given} />
  if (of.type === 'entries') return <textarea {...written} class="code" rows={2} placeholder="name: ${value}" defaultValue={entries(of.name, settings)} />
  return <input {...written} defaultValue={given} />
}

const entries = (name: string, settings: Settings) =>
  Object.entries(settings)
    .filter(([key]) => key.startsWith(`${name}.`))
    .map(([key, text]) => `${key.slice(name.length + 1)}: ${text}`)
    .join('\n')
