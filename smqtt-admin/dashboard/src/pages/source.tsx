// SPDX-License-Identifier: Apache-2.0
// The page of one source: its state on each node, and its editor.
import { useState } from 'preact/hooks'
import { get, path, post, put } from '../api'
import { count } from '../format'
import { t } from '../i18n'
import { go, link } from '../router'
import { may } from '../session'
import { Badge, Card, Failure, Field, Form, Name, Select, Table, useEvery, useLoad, type Values } from '../ui'
import { Keys, NAME, changed, read, readType, type Settings } from './keys'
import { INTERVAL_MILLIS, Incomplete, NEW } from './rules'
import { COUNTS, Changes, State, type OnNode, type Source } from './sources'

export function SourcePage({ id }: { id: string }) {
  const made = id !== NEW
  const loaded = useLoad(signal => (made ? get<Source>(path`sources/${id}`, {}, signal) : Promise.resolve(undefined)), [id])
  useEvery(INTERVAL_MILLIS, loaded.reload)
  const source = loaded.value
  const edited = may.administer() && (!made || source?.source === 'api')
  return (
    <>
      <p class="crumbs">
        <a href={link(['sources'])}>{t('sources')}</a> / {made ? <Name text={id} /> : t('addSource')}
      </p>
      <Failure error={loaded.error} />
      <Incomplete nodes={source?.incomplete} />
      {source && <Shown source={source} done={loaded.reload} />}
      {edited && (!made || source) && <Editor source={source} saved={loaded.reload} />}
    </>
  )
}

function Shown({ source, done }: { source: Source; done: () => void }) {
  return (
    <Card title={t('source')} side={<Changes source={source} done={done} />}>
      {source.source === 'file' && <p class="dim">{t('sourceOfFile')}</p>}
      <Table
        label={t('nodes')}
        rows={source.node_status}
        id={one => one.node}
        columns={[
          { head: t('node'), cell: one => <Name text={one.node} /> },
          { head: t('state'), cell: one => <State status={source.enable ? one.status : 'disabled'} reason={one.status_reason} /> },
          ...COUNTS.map(([name, head]) => ({ head: t(head), cell: (one: OnNode) => count(one.metrics[name]), number: true })),
        ]}
      />
    </Card>
  )
}

function Editor({ source, saved }: { source?: Source; saved: () => void }) {
  const names = useLoad(signal => get<string[]>('source_types', {}, signal))
  const [chosen, choose] = useState(source?.type)
  const name = chosen ?? (names.value?.includes('http') ? 'http' : names.value?.[0])
  const type = useLoad(() => (name ? readType('source', name) : Promise.resolve(undefined)), [name])
  const [done, save] = useState(false)
  const [checked, show] = useState<{ error?: unknown }>()
  const former: Settings = source && name === source.type ? (source.settings ?? {}) : {}

  const body = (values: Values) => ({ type: name, enable: source?.enable ?? true, ...(type.value ? changed(values, 0, former, type.value) : {}) })

  async function submit(values: Values) {
    save(false)
    if (source) {
      await put(path`sources/${source.id}`, body(values))
      save(true)
      saved()
    } else {
      const { id = '' } = values
      await post('sources', { id, ...body(values) })
      go(['sources', id])
    }
  }

  async function probe(form: HTMLFormElement | null) {
    show(undefined)
    try {
      if (form) await post(source ? path`sources_probe?source=${source.id}` : 'sources_probe', body(read(form)))
      show({})
    } catch (error) {
      show({ error })
    }
  }

  const shown = type.value?.name === name ? type.value : undefined
  const [first, further] = [true, false].map(required => shown?.common_keys.filter(key => key.required === required) ?? [])
  return (
    <Card title={t(source ? 'edit' : 'addSource')} side={<span role="status">{done && t('saved')}</span>}>
      <Form label={t(source ? 'edit' : 'addSource')} action={t('save')} submit={submit}>
        {!source && (
          <Field label={t('name')}>
            <input name="id" required pattern={NAME} autocomplete="off" spellcheck={false} />
          </Field>
        )}
        <Select
          label={t('type')}
          name="type"
          value={name ?? ''}
          options={(name && !names.value?.includes(name) ? [name, ...(names.value ?? [])] : (names.value ?? [])).map(one => [one, one])}
          change={choose}
        />
        <button type="button" onClick={event => probe(event.currentTarget.form)}>
          {t('checkSink')}
        </button>
        <div class="whole" role="status">
          {checked && !checked.error && <Badge kind="good">{t('sourceReached')}</Badge>}
        </div>
        <Failure error={checked?.error} />
        <Failure error={names.error ?? type.error} />
        {shown && (
          <div class="whole" key={name}>
            <Keys keys={[...first!, ...shown.keys]} number={0} settings={former} />
            <details>
              <summary>{t('furtherKeys')}</summary>
              <Keys keys={further!} number={0} settings={former} />
            </details>
          </div>
        )}
      </Form>
    </Card>
  )
}
