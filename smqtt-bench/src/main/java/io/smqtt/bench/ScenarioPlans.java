// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * Plans of the scenarios. All names begin with a prefix of the run, so that runs do not disturb one another.
 *
 * @param prefix the prefix of topics and client identifiers
 * @param subscribeQos the QoS of subscriptions
 */
record ScenarioPlans(String prefix, int subscribeQos) {

    /** Publisher i to subscriber i. */
    Plan symmetric(int pairs) {
        Building plan = new Building();
        for (int i = 0; i < pairs; i++) {
            plan.publisher(i, topic(i));
            plan.subscriber(i, topic(i), FlowTable.of(i, 1, false));
        }
        return plan.done(Scenario.SYMMETRIC, 1);
    }

    /**
     * Publisher i to subscriber i, by something that forwards messages to other topics: a bridge, or a rule.
     *
     * @param name the name of the run
     * @param out what published topics begin with
     * @param in what they begin with where they are received
     */
    Plan forwarded(String name, int pairs, String out, String in) {
        Building plan = new Building();
        for (int i = 0; i < pairs; i++) {
            plan.publisher(i, out + "/" + i);
            plan.subscriber(i, in + "/" + i, FlowTable.of(i, 1, false));
        }
        return new Plan(name, plan.clients, plan.tables, 1);
    }

    /** Each shared subscription of {@code members} receives from an equal share of the publishers. */
    Plan fanIn(int publishers, int subscribers, int members) {
        int groups = subscribers / members;
        if (groups == 0 || subscribers % members != 0 || publishers % groups != 0) {
            throw new WrongUsage(subscribers + " subscribers in groups of " + members + " for " + publishers
                    + " publishers: the groups must be of the same size and have the same number of publishers");
        }
        Building plan = new Building();
        int share = publishers / groups;
        for (int group = 0; group < groups; group++) {
            FlowTable flows = FlowTable.of(group * share, share, true);
            plan.tables.add(flows);
            for (int i = 0; i < members; i++) {
                plan.client(ClientSpec.subscriber(
                        id("s", plan.clients.size()),
                        plan.clients.size(),
                        group,
                        List.of("$share/g" + group + "/" + topic(group) + "/+"),
                        subscribeQos,
                        flows));
            }
            for (int i = group * share; i < (group + 1) * share; i++) {
                plan.publisher(i, topic(group) + "/" + i);
            }
        }
        return plan.done(Scenario.FANIN, 1);
    }

    /** Each publisher to an equal part of the subscribers. */
    Plan fanOut(int publishers, int subscribers) {
        if (subscribers % publishers != 0) {
            throw new WrongUsage(subscribers + " subscribers for " + publishers
                    + " publishers: each publisher must have the same number of subscribers");
        }
        Building plan = new Building();
        for (int i = 0; i < publishers; i++) {
            plan.publisher(i, topic(i));
        }
        for (int i = 0; i < subscribers; i++) {
            plan.subscriber(i, topic(i % publishers), FlowTable.of(i % publishers, 1, false));
        }
        return plan.done(Scenario.FANOUT, subscribers / publishers);
    }

    /** Every publisher to every subscriber, and to slow ones beside them. */
    Plan singleTopic(int publishers, int subscribers, int slow) {
        Building plan = new Building();
        for (int i = 0; i < publishers; i++) {
            plan.publisher(i, topic(0));
        }
        for (int i = 0; i < subscribers; i++) {
            plan.subscriber(i, topic(0), FlowTable.of(0, publishers, false));
        }
        for (int i = 0; i < slow; i++) {
            plan.client(ClientSpec.slow(id("l", i), plan.clients.size(), topic(0), subscribeQos));
        }
        return plan.done(Scenario.SINGLE_TOPIC, subscribers);
    }

    /** Symmetric, and clients with filters of four kinds of which none matches. */
    Plan wildcard(int pairs, int filters, int holders) {
        Building plan = new Building();
        for (int holder = 0; holder < holders; holder++) {
            List<String> held = new ArrayList<>();
            for (int i = holder; i < filters; i += holders) {
                held.add(filter(i, pairs));
            }
            FlowTable flows = FlowTable.of(0, 0, false);
            plan.tables.add(flows);
            plan.client(ClientSpec.subscriber(id("h", holder), plan.clients.size(), holder, held, subscribeQos, flows));
        }
        for (int i = 0; i < pairs; i++) {
            plan.publisher(i, topic(i) + "/data");
            plan.subscriber(i, topic(i) + "/data", FlowTable.of(i, 1, false));
        }
        return plan.done(Scenario.WILDCARD, 1);
    }

    private String filter(int i, int pairs) {
        return switch (i % 4) {
            case 0 -> prefix + "/x/" + i + "/data";
            case 1 -> prefix + "/x/" + i + "/+";
            case 2 -> prefix + "/x/" + i + "/#";
            // Begins like the published topics, and ends differently.
            default -> topic(i % pairs) + "/+/n" + i;
        };
    }

    /** Publishers that number their topics: {@code <prefix>/r/<publisher>/<number>}. */
    Plan retainedStore(int publishers) {
        Building plan = new Building();
        for (int i = 0; i < publishers; i++) {
            plan.publisher(i, prefix + "/r/" + i + "/" + PublishTemplate.NUMBER);
        }
        return plan.done(Scenario.RETAINED, 0);
    }

    /** One subscriber to all of them. */
    Plan retainedFetch(long[] published) {
        Building plan = new Building();
        plan.subscriber(0, prefix + "/r/#", FlowTable.of(0, published.length, false));
        return new Plan(Scenario.RETAINED.toString(), plan.clients, plan.tables, 0, 0, published, List.of());
    }

    /** A publisher for each session. */
    Plan offlinePublishers(int sessions) {
        Building plan = new Building();
        for (int i = 0; i < sessions; i++) {
            plan.publisher(i, topic(i));
        }
        return plan.done(Scenario.OFFLINE, 0);
    }

    /** The sessions; {@code published} is empty before the first message. */
    Plan offlineSessions(int sessions, long[] published) {
        Building plan = new Building();
        for (int i = 0; i < sessions; i++) {
            FlowTable flows = published.length == 0 ? FlowTable.open() : FlowTable.of(i, 1, false);
            plan.subscriber(i, topic(i), flows);
        }
        return new Plan(Scenario.OFFLINE.toString(), plan.clients, plan.tables, 0, 0, published, List.of());
    }

    private String topic(int i) {
        return prefix + "/" + i;
    }

    private String id(String role, int i) {
        return prefix + "-" + role + i;
    }

    private final class Building {

        private final List<ClientSpec> clients = new ArrayList<>();
        private final List<FlowTable> tables = new ArrayList<>();

        void client(ClientSpec spec) {
            clients.add(spec);
        }

        void publisher(int number, String topic) {
            client(ClientSpec.publisher(id("p", number), clients.size(), number, topic));
        }

        void subscriber(int number, String filter, FlowTable flows) {
            tables.add(flows);
            client(ClientSpec.subscriber(
                    id("s", number), clients.size(), number, List.of(filter), subscribeQos, flows));
        }

        Plan done(Scenario scenario, int deliveriesPerMessage) {
            return new Plan(scenario.toString(), clients, tables, deliveriesPerMessage);
        }
    }
}
