// SPDX-License-Identifier: Apache-2.0
// The pages, in the order of the menu, each with whom it is for.
import type { ComponentType } from 'preact'
import type { Key } from './i18n'
import type { Route } from './router'
import { may } from './session'
import { Account } from './pages/account'
import { Api } from './pages/api'
import { Audit } from './pages/audit'
import { Bans } from './pages/bans'
import { Bridges } from './pages/bridges'
import { Clients } from './pages/clients'
import { Cluster } from './pages/cluster'
import { Configuration } from './pages/configuration'
import { History } from './pages/history'
import { Listeners } from './pages/listeners'
import { Overview } from './pages/overview'
import { Retained } from './pages/retained'
import { Rules } from './pages/rules'
import { Sources } from './pages/sources'
import { Subscriptions } from './pages/subscriptions'
import { Tool } from './pages/tool'
import { TopicMetrics } from './pages/topic-metrics'
import { TopicRules } from './pages/topic-rules'
import { Topics } from './pages/topics'
import { Users } from './pages/users'

export interface Item {
  name: string
  title: Key
  shown: () => boolean
  page: ComponentType<{ route: Route }>
}

export const MENU: Item[] = [
  { name: '', title: 'overview', shown: may.look, page: Overview },
  { name: 'history', title: 'history', shown: may.look, page: History },
  { name: 'clients', title: 'clients', shown: may.look, page: Clients },
  { name: 'subscriptions', title: 'subscriptions', shown: may.look, page: Subscriptions },
  { name: 'topics', title: 'topics', shown: may.look, page: Topics },
  { name: 'topic-metrics', title: 'topicMetrics', shown: may.look, page: TopicMetrics },
  { name: 'topic-rules', title: 'topicRules', shown: may.look, page: TopicRules },
  { name: 'retained', title: 'retained', shown: may.look, page: Retained },
  { name: 'bans', title: 'bans', shown: may.look, page: Bans },
  { name: 'tool', title: 'tool', shown: () => true, page: Tool },
  { name: 'listeners', title: 'listeners', shown: may.look, page: Listeners },
  { name: 'bridges', title: 'bridges', shown: may.look, page: Bridges },
  { name: 'rules', title: 'rules', shown: may.look, page: Rules },
  { name: 'sources', title: 'sources', shown: may.look, page: Sources },
  { name: 'cluster', title: 'cluster', shown: may.look, page: Cluster },
  { name: 'users', title: 'users', shown: may.administer, page: Users },
  { name: 'account', title: 'ownPassword', shown: may.haveAccount, page: Account },
  { name: 'audit', title: 'audit', shown: may.administer, page: Audit },
  { name: 'configuration', title: 'configuration', shown: may.administer, page: Configuration },
  { name: 'api', title: 'restApi', shown: () => true, page: Api },
]

/** Whether the menu has a page. */
export const isShown = (name: string) => MENU.some(item => item.name === name && item.shown())
