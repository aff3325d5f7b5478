// SPDX-License-Identifier: Apache-2.0
// The fields of a type of actions or sources, as it declares them; the broker checks them.
import { get, path } from '../api'
import { t } from '../i18n'
import { Code, type Values } from '../ui'

export interface Key {
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

export interface Type {
  name: string
  keys: Key[]
  common_keys: Key[]
}

export type Settings = Record<string, string>

/** A name that the broker takes. */
export const NAME = '[a-z0-9][a-z0-9\\-]{0,63}'

/** What has a type: an action of a rule, or a source. */
export type Kind = 'action' | 'source'

const types = new Map<string, Promise<Type>>()

/** The declaration of a type; it stays the same as long as the broker runs. */
export function readType(kind: Kind, name: string): Promise<Type> {
  const key = `${kind} ${name}`
  let type = types.get(key)
  if (!type) {
    type = get<Type>(path`${kind + '_types'}/${name}`)
    type.catch(() => types.delete(key))
    types.set(key, type)
  }
  return type
}

/** The name of the field of a key; the number tells the fields of several types in one form apart. */
export const field = (number: number, key: string) => `${number}:${key}`

/** The settings that differ from the defaults, and the former ones that the form does not show. */
export function changed(values: Values, number: number, former: Settings, type: Type): Settings {
  const all: Settings = {}
  const keys = [...type.keys, ...type.common_keys]
  for (const [name, text] of Object.entries(former)) {
    const shown = keys.some(key => name === key.name || (key.type === 'entries' && name.startsWith(`${key.name}.`)))
    if (!shown && name !== 'type') all[name] = text
  }
  for (const key of keys) {
    const text = values[field(number, key.name)]?.replaceAll('\r\n', '\n') ?? ''
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

export function read(form: HTMLFormElement): Values {
  const values: Values = {}
  new FormData(form).forEach((value, name) => (values[name] = String(value)))
  return values
}

/** A field for each key, with its text, which is in English as the documentation is. */
export const Keys = ({ keys, number, settings }: { keys: Key[]; number: number; settings: Settings }) => (
  <div class="keys">
    {keys.map(key => {
      const id = field(number, key.name)
      return (
        <div key={key.name}>
          <label for={id}>
            <code>{key.name}</code> {key.required && <span class="dim">{t('required')}</span>}
          </label>
          <Input of={key} id={id} settings={settings} />
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
