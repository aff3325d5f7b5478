// SPDX-License-Identifier: Apache-2.0
import { get, path, post, remove, type List } from '../api'
import { t } from '../i18n'
import { may } from '../session'
import { Confirm, Failure, Field, Form, Name, Select, Table, Time, usePages } from '../ui'

interface Ban {
  as: string
  who: string
  by?: string
  reason?: string
  at?: string
  until?: string
}

const KINDS = ['clientid', 'username', 'peerhost', 'clientid_re', 'username_re', 'peerhost_net']

export function Bans() {
  const list = usePages<Ban>(paging => get<List<Ban>>('banned', paging), [], 'page')
  return (
    <>
      {may.operate() && (
        <Form
          label={t('ban')}
          action={t('ban')}
          submit={async ({ as, who, reason, until }, form) => {
            await post('banned', {
              as,
              who,
              ...(reason && { reason }),
              ...(until && { until: new Date(until).toISOString() }),
            })
            form.reset()
            list.reload()
          }}
        >
          <Select label={t('kind')} name="as" value="clientid" options={KINDS.map(kind => [kind, kind])} />
          <Field label={t('who')} wide>
            <input name="who" required />
          </Field>
          <Field label={t('reason')}>
            <input name="reason" />
          </Field>
          <Field label={t('until')}>
            <input name="until" type="datetime-local" />
          </Field>
        </Form>
      )}
      <Failure error={list.error} />
      <Table
        label={t('bans')}
        rows={list.rows}
        id={one => one.as + one.who}
        columns={[
          { head: t('kind'), cell: one => one.as },
          { head: t('who'), cell: one => <Name text={one.who} /> },
          { head: t('reason'), cell: one => <Name text={one.reason} /> },
          { head: t('by'), cell: one => <Name text={one.by} /> },
          { head: t('since'), cell: one => <Time at={one.at} /> },
          { head: t('until'), cell: one => (one.until && one.until !== 'infinity' ? <Time at={one.until} /> : t('never')) },
          {
            head: '',
            cell: one =>
              may.operate() && (
                <Confirm
                  label={t('unban')}
                  question={t('unbanQuestion')}
                  subject={one.who}
                  action={() => remove(path`banned/${one.as}/${one.who}`)}
                  done={list.reload}
                />
              ),
          },
        ]}
      />
      {list.pager}
    </>
  )
}
