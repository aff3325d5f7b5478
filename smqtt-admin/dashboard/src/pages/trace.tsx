// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { asList, get, path, post, put, remove, type List } from '../api'
import { plain } from '../format'
import { t } from '../i18n'
import { may } from '../session'
import { Badge, Facts, Failure, Time, useEvery, useLoad } from '../ui'

interface Trace {
  name: string
  type: string
  clientid?: string
  status: 'waiting' | 'running' | 'stopped'
  end_at: string
}

interface Part {
  items: string
  meta: { position: number; size: number }
}

const LINES_SHOWN = 500
const PART_BYTES = 65_536
const EVERY = 2_000

/** The latest trace of a client, which operators start and end here. */
export function ClientTrace({ id, node }: { id: string; node: string }) {
  const traces = useLoad(signal => get<Trace[] | List<Trace>>('trace', {}, signal), [id])
  const [error, fail] = useState<unknown>()
  const found = traces.value && asList(traces.value).data.find(one => one.type === 'clientid' && one.clientid === id)
  const running = found && found.status !== 'stopped'
  const act = (action: () => Promise<unknown>) => async () => {
    fail(undefined)
    await action().catch(fail)
    traces.reload()
  }
  const start = () => post('trace', { name: `page-${Date.now().toString(36)}`, type: 'clientid', clientid: id, payload_encode: 'text' })
  return (
    <>
      <p class="dim">{t('traceHelp')}</p>
      <Failure error={traces.error ?? error} />
      {may.operate() && traces.value && (
        <p class="buttons">
          {running ? (
            <button type="button" onClick={act(() => put(path`trace/${found.name}/stop`, {}))}>
              {t('stopTrace')}
            </button>
          ) : (
            <button type="button" class="main" onClick={act(start)}>
              {t('startTrace')}
            </button>
          )}
          {found && (
            <button type="button" class="danger" onClick={act(() => remove(path`trace/${found.name}`))}>
              {t('delete')}
            </button>
          )}
        </p>
      )}
      {found && (
        <>
          <Facts
            items={[
              [t('trace'), found.name],
              [t('state'), <Badge kind={running ? 'good' : 'plain'}>{t(running ? 'running' : 'stopped')}</Badge>],
              [t('until'), <Time at={found.end_at} />],
            ]}
          />
          <Log key={found.name} name={found.name} node={node} />
        </>
      )}
    </>
  )
}

/** The last lines of the file of a trace on one node, and those that follow. */
function Log({ name, node }: { name: string; node: string }) {
  const [lines, set] = useState<string[]>([])
  const [error, fail] = useState<unknown>()
  const position = useRef(0)
  const reading = useRef(false)
  const read = useCallback(async () => {
    if (reading.current) return
    reading.current = true
    try {
      let size: number
      do {
        const part: Part = await get<Part>(path`trace/${name}/log`, { node, position: position.current, bytes: PART_BYTES })
        if (part.meta.position <= position.current) break
        position.current = part.meta.position
        size = part.meta.size
        const more = part.items.split('\n').filter(line => line)
        set(old => [...old, ...more].slice(-LINES_SHOWN))
      } while (position.current < size)
      fail(undefined)
    } catch (caught) {
      fail(caught)
    } finally {
      reading.current = false
    }
  }, [name, node])
  useEffect(() => void read(), [read])
  useEvery(EVERY, read)
  return (
    <>
      <Failure error={error} />
      <pre tabIndex={0} role="log" aria-label={t('trace')} class="payload" dir="ltr">
        {lines.map(plain).join('\n') || t('none')}
      </pre>
    </>
  )
}
