// SPDX-License-Identifier: Apache-2.0
// Shows openapi.yaml: its operations in groups, each with parameters, roles, what is sent and what is answered.
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../i18n'
import { curl, readDescription, type Answer, type Content, type Description, type Operation } from '../openapi'
import { link } from '../router'
import { Badge, Card, Code, Failure, Field, Table, useLoad } from '../ui'

export function Reference({ wanted }: { wanted?: string }) {
  const [text, search] = useState('')
  const { value, error } = useLoad(readDescription)
  const words = text.toLowerCase().split(/\s+/)
  const found = value?.operations.filter(one => words.every(word => searched(one).includes(word))) ?? []
  return (
    <>
      <Field label={t('search')} wide>
        <input type="search" onInput={event => search(event.currentTarget.value)} placeholder={t('apiSearch')} />
      </Field>
      <p class="dim" role="status">
        {value && t('operations', found.length)}
      </p>
      <Failure error={error} />
      {!value && !error && <p class="dim empty">{t('loading')}</p>}
      <div lang="en">
        {value?.groups.map(group => {
          const operations = found.filter(one => one.group === group)
          return (
            operations.length > 0 && (
              <Card key={group} title={group}>
                {operations.map(one => (
                  <Entry key={one.id} operation={one} description={value} wanted={one.id === wanted} />
                ))}
              </Card>
            )
          )
        })}
      </div>
    </>
  )
}

const searched = ({ method, path, summary, id, group, parameters }: Operation) =>
  [method, path, summary, id, group, ...parameters.map(one => one.name)].join(' ').toLowerCase()

interface Shown {
  operation: Operation
  description: Description
}

function Entry({ operation, description, wanted }: Shown & { wanted: boolean }) {
  const [open, setOpen] = useState(wanted)
  const details = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (!wanted) return
    setOpen(true)
    requestAnimationFrame(() => details.current?.scrollIntoView())
  }, [wanted])
  return (
    <details ref={details} class="operation" open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <Badge kind="plain">{operation.method}</Badge> <code>{operation.path}</code> <span class="dim">{operation.summary}</span>
      </summary>
      {open && <Parts operation={operation} description={description} />}
    </details>
  )
}

function Parts({ operation, description }: Shown) {
  const { id, roles, parameters, request, answers } = operation
  return (
    <>
      <p>
        {t('roles')}: {roles.join(', ')} · <a href={link(['api', id])}>{id}</a>
      </p>
      <pre class="payload">{curl(operation, schema => description.sample(schema))}</pre>
      {parameters.length > 0 && (
        <>
          <h3>{t('parameters')}</h3>
          <Table
            label={t('parameters')}
            rows={parameters}
            id={one => one.in + one.name}
            columns={[
              { head: t('name'), cell: one => <Named name={one.name} required={one.required} /> },
              { head: t('place'), cell: one => one.in },
              { head: t('type'), cell: one => description.typeOf(one.schema) },
              { head: t('description'), cell: one => <Code text={[one.description, description.textOf(one.schema)].filter(Boolean).join('. ')} /> },
              { head: t('example'), cell: one => one.example !== undefined && <code>{String(one.example)}</code> },
            ]}
          />
        </>
      )}
      {request && (
        <>
          <h3>{t('request')}</h3>
          <Body content={request} description={description} />
        </>
      )}
      <h3>{t('answers')}</h3>
      {answers.map(one => (
        <AnswerPart key={one.status} answer={one} description={description} />
      ))}
    </>
  )
}

function AnswerPart({ answer, description }: { answer: Answer; description: Description }) {
  const [open, setOpen] = useState(answer.status < '300')
  const line = (
    <>
      <Badge kind={answer.status < '300' ? 'good' : 'plain'}>{answer.status}</Badge> <Code text={answer.description} />
    </>
  )
  if (answer.contents.length === 0) return <p>{line}</p>
  return (
    <details open={open} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{line}</summary>
      {open && answer.contents.map(one => <Body key={one.type} content={one} description={description} />)}
    </details>
  )
}

function Body({ content, description }: { content: Content; description: Description }) {
  const fields = description.fields(content.schema)
  return (
    <>
      <p class="dim">
        {content.type}: {description.typeOf(content.schema)}
      </p>
      {fields.length > 0 && (
        <Table
          label={t('fields')}
          rows={fields}
          columns={[
            { head: t('name'), cell: one => <Named name={one.name} required={one.required} /> },
            { head: t('type'), cell: one => one.type },
            { head: t('description'), cell: one => <Code text={one.text} /> },
          ]}
        />
      )}
      {content.type.endsWith('json') && (
        <>
          <p class="dim">{t('example')}</p>
          <pre class="payload">{JSON.stringify(content.example ?? description.sample(content.schema), null, 2)}</pre>
        </>
      )}
    </>
  )
}

const Named = ({ name, required }: { name: string; required?: boolean }) => (
  <>
    <code>{name}</code>
    {required && <span class="dim"> {t('required')}</span>}
  </>
)
