// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks'
import { bytes, decode64, hex, plain, pretty, text } from '../format'
import { t } from '../i18n'
import { Card, Name, Tabs } from '../ui'

const SHOWN = 64 * 1024

/** A payload as JSON, text or hexadecimal, whichever fits first. */
export function Payload({ topic, base64 }: { topic: string; base64: string }) {
  const data = decode64(base64)
  const part = data.subarray(0, SHOWN)
  const forms: Record<string, string | null> = { json: pretty(data), text: text(data), hex: '' }
  const possible = Object.keys(forms).filter(name => forms[name] !== null)
  const [chosen, choose] = useState<string>()
  const shown = chosen && possible.includes(chosen) ? chosen : possible[0]!
  const content = shown === 'hex' ? hex(part) : keepLines((forms[shown] ?? '').slice(0, SHOWN))
  return (
    <Card title={t('payload')} side={<span class="dim">{bytes(data.length)}</span>}>
      <p>
        <Name text={topic} />
      </p>
      <Tabs
        label={t('format')}
        shown={shown}
        show={choose}
        tabs={possible.map(name => [name, { json: 'JSON', text: t('text'), hex: t('hex') }[name]!])}
      />
      <pre tabIndex={0} role="region" aria-label={t('payload')} class="payload" dir="ltr">
        {content}
      </pre>
      {data.length > SHOWN && <p class="dim">{t('cut', bytes(SHOWN))}</p>}
    </Card>
  )
}

const keepLines = (value: string) => value.split('\n').map(plain).join('\n')
