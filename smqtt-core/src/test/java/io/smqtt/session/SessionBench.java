// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.config.SharedStrategy;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.MessageIds;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.AccessRequest;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Sessions, router and deadlines on loops whose tasks run when {@link #run()} is called, with a clock set by hand. */
final class SessionBench {

    /** What became of a request. */
    static final class Outcome implements SessionRequest.Reply {
        @Nullable
        Session session;

        boolean present;

        @Nullable
        ReasonCode refusal;

        @Override
        public void opened(Session opened, boolean sessionPresent) {
            session = opened;
            present = sessionPresent;
            opened.start();
        }

        @Override
        public void refused(ReasonCode reason) {
            refusal = reason;
        }
    }

    /** Rules that can be changed. */
    static final class Rules implements Authorizer {
        Set<String> denied = Set.of();
        boolean checksDeliveries;
        boolean late;
        long generation;
        int asked;

        @Override
        public Mono<AccessDecision> authorize(AccessRequest request) {
            asked++;
            if (late) {
                return Mono.just(AccessDecision.ALLOW).hide();
            }
            return (denied.contains(request.action() + " " + request.topic())
                            ? AccessDecision.DENY
                            : AccessDecision.ALLOW)
                    .now();
        }

        @Override
        public long generation() {
            return generation;
        }

        @Override
        public boolean checksDeliveries() {
            return checksDeliveries;
        }
    }

    final CountingObserver observer = new CountingObserver();
    final Rules rules = new Rules();
    final List<ManualLoop> executors;
    final List<DeadlineWheel> wheels = new ArrayList<>();
    final Router router;
    final SessionRegistry registry;
    final QueueBudget budget = new QueueBudget(1 << 20);
    final SessionResources resources;
    final MessageIds ids = new MessageIds();
    long nanos = 1_000_000_000L;

    SessionBench(int loops) {
        this(loops, LimitsConfig.defaults(), SessionConfig.defaults());
    }

    SessionBench(int loops, LimitsConfig limits, SessionConfig config) {
        this(loops, limits, config, null);
    }

    /** With a store, which is read when the test calls {@link SessionRegistry#recover()}. */
    SessionBench(int loops, LimitsConfig limits, SessionConfig config, @Nullable BrokerStore store) {
        executors = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            executors.add(new ManualLoop());
            wheels.add(new DeadlineWheel(() -> nanos));
        }
        router = new Router(
                List.<EventExecutor>copyOf(executors),
                new SubscriptionIndex(SharedStrategy.ROUND_ROBIN),
                new RetainedMessages(1_000, 1 << 20),
                observer);
        Stores stores = store == null ? null : stores(store);
        registry = new SessionRegistry(router, wheels, rules, observer, () -> nanos, limits, config, budget, stores);
        resources = new SessionResources(
                router,
                wheels,
                rules,
                observer,
                () -> nanos,
                limits,
                config,
                budget,
                registry.budget(),
                stores,
                registry.exclusive(),
                java.util.Map.of());
    }

    private Stores stores(BrokerStore store) {
        List<StoreLoop> loops = new ArrayList<>();
        for (int i = 0; i < executors.size(); i++) {
            loops.add(new StoreLoop(executors.get(i), wheels.get(i), true, true));
        }
        return new Stores(store, loops, true);
    }

    RoutingLoop loop(int index) {
        return router.loops().get(index);
    }

    /** Runs all tasks of all loops until none is left. */
    void run() {
        boolean any = true;
        while (any) {
            any = false;
            for (ManualLoop executor : executors) {
                any |= executor.runTasks() > 0;
            }
        }
    }

    void pass(Duration time) {
        nanos += time.toNanos();
        for (int i = 0; i < wheels.size(); i++) {
            executors.get(i).execute(wheels.get(i)::advance);
        }
        run();
    }

    static ClientIdentity client(String id, @Nullable String user) {
        return new ClientIdentity(
                id, user, InetSocketAddress.createUnresolved("localhost", 1), "tcp", ProtocolVersion.MQTT_5, Set.of());
    }

    Outcome request(String id, int loop, boolean cleanStart, long expirySeconds, RecordingSink sink) {
        return request(client(id, null), loop, cleanStart, expirySeconds, null, sink);
    }

    Outcome request(
            ClientIdentity client,
            int loop,
            boolean cleanStart,
            long expirySeconds,
            @Nullable Will will,
            RecordingSink sink) {
        Outcome outcome = new Outcome();
        registry.open(new SessionRequest(client, cleanStart, expirySeconds, will, sink, loop(loop), outcome));
        return outcome;
    }

    Session open(String id, int loop, boolean cleanStart, long expirySeconds, RecordingSink sink) {
        Outcome outcome = request(id, loop, cleanStart, expirySeconds, sink);
        run();
        if (outcome.session == null) {
            throw new AssertionError("refused: " + outcome.refusal);
        }
        return outcome.session;
    }

    static Subscription subscribe(Session session, String filter, QoS qos) {
        SharedFilter shared = SharedFilter.isShared(filter) ? SharedFilter.of(filter) : null;
        Subscription subscription = new Subscription(
                session,
                shared == null ? TopicFilter.of(filter) : shared.filter(),
                shared == null ? null : shared.shareName(),
                qos,
                false,
                false,
                Subscription.NO_IDENTIFIER);
        session.subscriptions().subscribe(subscription);
        session.start(); // as after the SUBACK
        return subscription;
    }

    ApplicationMessage message(String topic, String text, QoS qos) {
        return ApplicationMessage.builder(topic).payload(text).qos(qos).build().accepted(ids.next(), nanos, "somebody");
    }

    void publish(int loop, String topic, String text, QoS qos) {
        router.route(loop(loop), message(topic, text, qos), RouteTicket.NONE);
    }

    static Will will(String topic, long delaySeconds) {
        return new Will(
                ApplicationMessage.builder(topic)
                        .payload("gone")
                        .qos(QoS.AT_LEAST_ONCE)
                        .build(),
                delaySeconds);
    }
}
