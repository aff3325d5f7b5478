// SPDX-License-Identifier: Apache-2.0
// The description of the API. It is loaded with its reader of YAML when the page is opened.
import type { Route } from '../router'
import { t } from '../i18n'
import { Failure, useLoad } from '../ui'

export function Api({ route }: { route: Route }) {
  const loaded = useLoad(() => import('./reference'))
  if (!loaded.value) return loaded.error ? <Failure error={loaded.error} /> : <p class="dim empty">{t('loading')}</p>
  return <loaded.value.Reference wanted={route.parts[1]} />
}
