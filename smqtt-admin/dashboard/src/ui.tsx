// SPDX-License-Identifier: Apache-2.0
// The few building blocks of all pages. What a client has named is shown by Name: as a text node, with hidden characters made visible.
import type { ComponentChildren, TargetedSubmitEvent } from 'preact'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Problem, type List } from './api'
import { clipped, count, moment, plain } from './format'
import { t } from './i18n'

export function Name({ text, whole }: { text?: string | null; whole?: boolean }) {
  if (text === undefined || text === null || text === '') return <span class="dim">–</span>
  return <bdi class="name">{whole ? plain(text) : clipped(text)}</bdi>
}

/** Text of the documentation, with code between backquotes. */
export const Code = ({ text }: { text: string }) => <>{text.split('`').map((part, i) => (i % 2 ? <code>{part}</code> : part))}</>

export const Time = ({ at }: { at?: string | number | null }) => <time>{moment(at)}</time>

export function Card({ title, side, children }: { title: string; side?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {side}
      </header>
      {children}
    </section>
  )
}

export interface Column<T> {
  head: string
  cell: (row: T) => ComponentChildren
  number?: boolean
}

export function Table<T>(props: { label: string; columns: Column<T>[]; rows?: T[]; id?: (row: T) => string }) {
  const { label, columns, rows, id } = props
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(column => (
              <th scope="col" class={column.number ? 'number' : ''}>
                {column.head || <span class="hidden">{t('actions')}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row, i) => (
            <tr key={id ? id(row) : i}>
              {columns.map(column => (
                <td class={column.number ? 'number' : column.head ? '' : 'actions'}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {!rows?.length && <p class="dim empty">{t(rows ? 'none' : 'loading')}</p>}
    </div>
  )
}

export function Facts({ items }: { items: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Field(props: { label: string; children: ComponentChildren; wide?: boolean }) {
  return (
    <label class={props.wide ? 'field wide' : 'field'}>
      <span>{props.label}</span>
      {props.children}
    </label>
  )
}

export function Select(props: {
  label: string
  name: string
  value?: string
  options: [string, string][]
  change?: (value: string) => void
}) {
  return (
    <Field label={props.label}>
      <select name={props.name} onChange={event => props.change?.(event.currentTarget.value)}>
        {props.options.map(([value, text]) => (
          <option value={value} selected={value === (props.value ?? '')}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  )
}

export type Values = Record<string, string>

/** A form whose values are handed over when it is submitted; an error is shown below it. */
export function Form(props: {
  submit: (values: Values, form: HTMLFormElement) => unknown
  children: ComponentChildren
  action?: string
  label?: string
}) {
  const [error, fail] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  async function submit(event: TargetedSubmitEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const values: Values = {}
    new FormData(form).forEach((value, name) => (values[name] = String(value)))
    setBusy(true)
    fail(undefined)
    try {
      await props.submit(values, form)
    } catch (caught) {
      fail(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit} aria-label={props.label}>
      <div class="fields">
        {props.children}
        <button type="submit" class="main" disabled={busy}>
          {props.action ?? t('search')}
        </button>
      </div>
      <Failure error={error} />
    </form>
  )
}

export function Failure({ error }: { error: unknown }) {
  if (!error) return null
  const text = error instanceof Error ? error.message : String(error)
  return (
    <p class="notice bad" role="alert">
      {error instanceof Problem ? `${error.status}: ${clipped(text)}` : clipped(text)}
    </p>
  )
}

export const Badge = ({ kind, children }: { kind: 'good' | 'bad' | 'warn' | 'plain'; children: ComponentChildren }) => (
  <span class={`badge ${kind}`}>{children}</span>
)

/** A button whose action is confirmed in a dialog first. */
export function Confirm(props: {
  label: string
  question: string
  subject?: string
  action: () => Promise<unknown>
  done?: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [error, fail] = useState<unknown>()
  async function act() {
    try {
      await props.action()
      dialog.current?.close()
      props.done?.()
    } catch (caught) {
      fail(caught)
    }
  }
  return (
    <>
      <button
        type="button"
        class="danger"
        onClick={() => {
          fail(undefined)
          dialog.current?.showModal()
        }}
      >
        {props.label}
      </button>
      <dialog ref={dialog} aria-label={props.question}>
        <p>{props.question}</p>
        {props.subject !== undefined && (
          <p>
            <Name text={props.subject} />
          </p>
        )}
        <Failure error={error} />
        <p class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            {t('cancel')}
          </button>
          <button type="button" class="danger" onClick={act}>
            {props.label}
          </button>
        </p>
      </dialog>
    </>
  )
}

export interface Loaded<T> {
  value?: T
  error?: unknown
  reload: () => void
}

/** Reads something when the component appears, when the dependencies change, and on demand. */
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, deps: unknown[] = []): Loaded<T> {
  const [state, set] = useState<{ value?: T; error?: unknown }>({})
  const [turn, again] = useState(0)
  useEffect(() => {
    const abort = new AbortController()
    const start = async () => read(abort.signal)
    start().then(
      value => set({ value }),
      error => abort.signal.aborted || set(old => ({ value: old.value, error })),
    )
    return () => abort.abort()
  }, [...deps, turn])
  return { ...state, reload: useCallback(() => again(n => n + 1), []) }
}

/** Does something again and again while the tab is shown. */
export function useEvery(millis: number, action: () => void) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || action(), millis)
    return () => clearInterval(timer)
  }, [action])
}

type Paging = { limit: number; page?: number; cursor?: string }

/** A list that is read page by page: by cursor, so that no entry is shown twice or left out; else by number. */
export function usePages<T>(read: (query: Paging) => Promise<List<T>>, deps: unknown[], by: 'cursor' | 'page' = 'cursor') {
  const [before, setBefore] = useState<string[]>([''])
  useEffect(() => setBefore(['']), deps)
  const cursor = before[before.length - 1]!
  const loaded = useLoad(
    () => read(by === 'cursor' ? { limit: PAGE, cursor } : { limit: PAGE, page: before.length }),
    [...deps, before.length, cursor],
  )
  const { meta, incomplete } = loaded.value ?? {}
  const counted = useLoad(
    () => (by === 'cursor' ? read({ limit: 1, page: 1 }) : Promise.resolve(undefined)),
    [...deps, loaded.value],
  )
  const total = by === 'page' ? meta?.count : counted.value?.meta?.count
  const pager = (
    <>
      {!!incomplete?.length && <p class="notice warn">{t('incomplete', incomplete.join(', '))}</p>}
      <nav class="pager" aria-label={t('pages')}>
        <button type="button" disabled={before.length < 2} onClick={() => setBefore(before.slice(0, -1))}>
          {t('previous')}
        </button>
        <span>
          {before.length}
          {total !== undefined && ` · ${t('entries', count(total))}`}
        </span>
        <button type="button" disabled={!meta?.hasnext} onClick={() => setBefore([...before, meta?.cursor ?? ''])}>
          {t('next')}
        </button>
        <button type="button" onClick={loaded.reload}>
          {t('refresh')}
        </button>
      </nav>
    </>
  )
  return { ...loaded, rows: loaded.value?.data ?? (loaded.error ? [] : undefined), pager }
}

const PAGE = 50

export function Tabs(props: { tabs: [string, string][]; shown: string; show: (tab: string) => void; label: string }) {
  return (
    <div class="tabs" role="group" aria-label={props.label}>
      {props.tabs.map(([name, text]) => (
        <button type="button" aria-pressed={name === props.shown} onClick={() => props.show(name)}>
          {text}
        </button>
      ))}
    </div>
  )
}
