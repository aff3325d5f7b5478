// SPDX-License-Identifier: Apache-2.0
// Live events, as server-sent events read by fetch: EventSource cannot send the token. One stream per tab, closed while the tab is hidden.
import { useEffect } from 'preact/hooks'
import { Problem, address, send } from './api'

type Listener = (data: any) => void

const FIRST_DELAY = 1_000
const LONGEST_DELAY = 30_000

const listeners = new Map<string, Set<Listener>>()
const stateListeners = new Set<(open: boolean) => void>()
let running: AbortController | undefined
let asked = ''

export function onStreamState(listener: (open: boolean) => void): () => void {
  stateListeners.add(listener)
  return () => stateListeners.delete(listener)
}

const tell = (open: boolean) => stateListeners.forEach(listener => listener(open))

/** Opens the stream with the topics that are listened to, if these have changed. */
function refresh(): void {
  const topics = document.hidden ? '' : [...listeners.keys()].sort().join()
  if (topics === asked) return
  asked = topics
  running?.abort()
  running = undefined
  if (topics) {
    running = new AbortController()
    void follow(topics, running.signal)
  }
}

async function follow(topics: string, signal: AbortSignal): Promise<void> {
  let delay = FIRST_DELAY
  while (!signal.aborted) {
    try {
      const answer = await send('GET', address('stream', { topics }), undefined, signal)
      tell(true)
      delay = FIRST_DELAY
      await read(answer.body!, signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Problem && [401, 403, 404].includes(error.status)) return tell(false)
    }
    tell(false)
    await new Promise(done => setTimeout(done, delay * (0.75 + Math.random() / 2)))
    delay = Math.min(2 * delay, LONGEST_DELAY)
  }
}

async function read(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done || signal.aborted) return
    text += value
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    events.forEach(dispatch)
  }
}

function dispatch(event: string): void {
  let topic = ''
  let data = ''
  for (const line of event.split('\n')) {
    if (line.startsWith('event:')) topic = line.slice(6).trim()
    else if (line.startsWith('data:')) data += line.slice(5)
  }
  if (topic && data) listeners.get(topic)?.forEach(listener => listener(JSON.parse(data)))
}

let scheduled = false
function refreshSoon(): void {
  if (scheduled) return
  scheduled = true
  queueMicrotask(() => {
    scheduled = false
    refresh()
  })
}

document.addEventListener('visibilitychange', refreshSoon)

/** Calls the listener for each event of a topic while the component is shown. */
export function useStream(topic: string | undefined, listener: Listener, deps: unknown[] = []): void {
  useEffect(() => {
    if (topic === undefined) return
    const all = listeners.get(topic) ?? new Set()
    listeners.set(topic, all.add(listener))
    refreshSoon()
    return () => {
      all.delete(listener)
      if (!all.size) listeners.delete(topic)
      refreshSoon()
    }
  }, [topic, ...deps])
}
