// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.Explanation.FilterMatch;
import io.smqtt.Explanation.Group;
import io.smqtt.Explanation.Outcome;
import io.smqtt.Explanation.Receiver;
import io.smqtt.Explanation.Verdict;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.QoS;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.SharedGroup;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.InProcess;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Predicts what happens to a message. Reads the state of the message path and changes nothing. */
@AnyThread
final class Explainer {

    private static final int MOST = 1_000;
    private static final int AT_A_TIME = 16;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final BrokerParts parts;

    Explainer(BrokerParts parts) {
        this.parts = parts;
    }

    Mono<Explanation> explain(TopicName topic, @Nullable String clientId) {
        return Mono.defer(() -> {
            Matches matches = new Matches();
            parts.router().index().match(topic, matches);
            Map<String, FilterMatch> filters = new TreeMap<>();
            Map<String, List<Subscription>> receivers = new TreeMap<>();
            TreeSet<String> nodes = new TreeSet<>();
            for (int i = 0; i < matches.size(); i++) {
                Subscription subscription = matches.get(i);
                String id = subscription.subscriber().id();
                if (subscription.noLocal() && id.equals(clientId)) {
                    continue;
                }
                count(filters, topic, subscription.filter(), 1);
                String node = subscription.subscriber().relaysTo();
                if (node == null) {
                    receivers.computeIfAbsent(id, key -> new ArrayList<>(1)).add(subscription);
                } else {
                    nodes.add(node);
                }
            }
            List<Group> groups = new ArrayList<>();
            for (int i = 0; i < matches.sharedSize(); i++) {
                SharedGroup group = matches.shared(i);
                count(filters, topic, group.filter(), 0);
                groups.add(group(group));
            }
            groups.sort(Comparator.comparing(Group::name).thenComparing(Group::filter));
            RetainedCursor cursor = parts.router().retained().cursor(TopicFilter.of(topic.value()));
            boolean retained = cursor.next(parts.ticker().nanoTime()) != null;
            return publishVerdict(topic, clientId)
                    .flatMap(publish -> Flux.fromIterable(receivers.values())
                            .take(MOST)
                            .flatMapSequential(subscriptions -> receiver(topic, subscriptions), AT_A_TIME)
                            .collectList()
                            .map(told -> new Explanation(
                                    topic.value(),
                                    clientId,
                                    publish,
                                    retained,
                                    new ArrayList<>(filters.values()),
                                    told,
                                    groups,
                                    new ArrayList<>(nodes),
                                    Math.max(0, receivers.size() - MOST))));
        });
    }

    private static void count(Map<String, FilterMatch> filters, TopicName topic, TopicFilter filter, int more) {
        filters.merge(
                filter.value(),
                new FilterMatch(filter.value(), path(topic.value(), filter.value()), more),
                (before, one) -> new FilterMatch(before.filter(), before.path(), before.subscribers() + more));
    }

    /** How a filter matches a topic, level by level; only for filters that match. */
    private static List<String> path(String topic, String filter) {
        String[] names = topic.split("/", -1);
        String[] wanted = filter.split("/", -1);
        List<String> path = new ArrayList<>(wanted.length);
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i].equals("#")) {
                path.add(
                        i < names.length
                                ? "# [" + String.join("/", Arrays.copyOfRange(names, i, names.length)) + ']'
                                : "# []");
            } else {
                path.add(wanted[i].equals("+") ? "+ [" + names[i] + ']' : wanted[i]);
            }
        }
        return path;
    }

    private static Group group(SharedGroup group) {
        List<String> members = new ArrayList<>();
        int[] online = new int[1];
        group.forEachMember(member -> {
            if (members.size() < MOST) {
                members.add(member.id());
            }
            if (member.isOnline()) {
                online[0]++;
            }
        });
        members.sort(Comparator.naturalOrder());
        return new Group(group.shareName(), group.filter().value(), members, online[0]);
    }

    private Mono<Verdict> publishVerdict(TopicName topic, @Nullable String clientId) {
        if (clientId == null || InProcess.isReserved(clientId)) {
            return Mono.just(Verdict.NOT_CHECKED);
        }
        Session session = parts.sessions().find(clientId);
        return session == null ? Mono.just(Verdict.UNKNOWN) : verdict(session.client(), AccessAction.PUBLISH, topic);
    }

    private Mono<Verdict> verdict(ClientIdentity client, AccessAction action, TopicName topic) {
        return Mono.defer(() ->
                        parts.access().authorizer().authorize(client, action, topic.value(), QoS.AT_MOST_ONCE, false))
                .map(decision -> decision == AccessDecision.ALLOW ? Verdict.ALLOWED : Verdict.DENIED)
                .defaultIfEmpty(Verdict.DENIED)
                .timeout(PATIENCE)
                .onErrorReturn(Verdict.UNKNOWN);
    }

    private Mono<Receiver> receiver(TopicName topic, List<Subscription> subscriptions) {
        Subscriber subscriber = subscriptions.get(0).subscriber();
        Authorizer authorizer = parts.access().authorizer();
        Mono<Verdict> receive = subscriber instanceof Session session
                        && authorizer.checksDeliveries(session.client())
                        && !InProcess.isReserved(session.id())
                ? verdict(session.client(), AccessAction.RECEIVE, topic)
                : Mono.just(Verdict.NOT_CHECKED);
        return receive.flatMap(verdict -> subscriber instanceof Session session
                ? Mono.<Receiver>create(
                                sink -> session.execute(() -> sink.success(receiver(session, subscriptions, verdict))))
                        .timeout(PATIENCE, Mono.empty())
                : Mono.just(other(subscriber, subscriptions)));
    }

    private static Receiver other(Subscriber subscriber, List<Subscription> subscriptions) {
        return new Receiver(
                subscriber.id(),
                filters(subscriptions),
                qos(subscriptions),
                subscriber.isOnline(),
                Verdict.NOT_CHECKED,
                subscriber.inFlightCount(),
                0,
                Outcome.SENT,
                null);
    }

    private static List<String> filters(List<Subscription> subscriptions) {
        return subscriptions.stream().map(Subscription::clientFilter).sorted().toList();
    }

    private static QoS qos(List<Subscription> subscriptions) {
        QoS highest = QoS.AT_MOST_ONCE;
        for (Subscription subscription : subscriptions) {
            highest = subscription.maximumQos().level() > highest.level() ? subscription.maximumQos() : highest;
        }
        return highest;
    }

    /** On the session's event loop. */
    private Receiver receiver(Session session, List<Subscription> subscriptions, Verdict receive) {
        QoS qos = qos(subscriptions);
        DropReason reason = refusal(session, qos, receive);
        return new Receiver(
                session.id(),
                filters(subscriptions),
                qos,
                session.isOnline(),
                receive,
                session.inFlightCount(),
                session.queuedCount(),
                reason != null ? Outcome.DROPPED : isReady(session, qos) ? Outcome.SENT : Outcome.QUEUED,
                reason);
    }

    private @Nullable DropReason refusal(Session session, QoS qos, Verdict receive) {
        PacketSink sink = session.sink();
        boolean queues = qos != QoS.AT_MOST_ONCE || parts.config().session().queueQos0();
        if (session.isOnline() && (receive == Verdict.DENIED || receive == Verdict.UNKNOWN)) {
            return DropReason.NOT_AUTHORIZED;
        }
        if (sink == null && !queues) {
            return DropReason.OFFLINE;
        }
        if (sink != null && qos == QoS.AT_MOST_ONCE) {
            return sink.isWritable() || queues ? null : DropReason.SLOW_CONSUMER;
        }
        ConsumerPressure pressure = session.pressure();
        if (isReady(session, qos) || (pressure != null && sink != null && pressure.takesMore())) {
            return null;
        }
        LimitsConfig limits = pressure == null ? parts.config().limits() : pressure.limits();
        if (session.queuedCount() >= limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        return session.queuedBytes() >= limits.maxQueuedBytes() ? DropReason.QUEUE_BYTES : null;
    }

    /** Whether a message would be sent at once. */
    private static boolean isReady(Session session, QoS qos) {
        PacketSink sink = session.sink();
        return sink != null
                && sink.isWritable()
                && session.queuedCount() == 0
                && (qos == QoS.AT_MOST_ONCE || session.inFlightCount() < sink.sendMaximum());
    }
}
