// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.store.ManualStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random histories of a shared group: members come, go, move between event loops and end, acknowledge or not, while messages are
 * published and the store commits late. Nothing is lost, at QoS 2 no message has two receivers, and the account closes.
 * {@code -Dsmqtt.seeds=10000} runs more of them.
 */
class GroupHistoriesTest {

    private static final int HISTORIES = Integer.getInteger("smqtt.seeds", 150);
    private static final String FILTER = "$share/g/t";
    private static final String GROUP = "$in-process/" + FILTER; // as the store calls it
    private static final int LOOPS = 3;
    private static final int MEMBERS = 4;
    private static final int STEPS = 400;

    @ParameterizedTest
    @CsvSource({
        "AT_LEAST_ONCE, false, false", "AT_LEAST_ONCE, false, true", "AT_LEAST_ONCE, true, false",
                "AT_LEAST_ONCE, true, true",
        "EXACTLY_ONCE, false, false", "EXACTLY_ONCE, false, true", "EXACTLY_ONCE, true, false",
                "EXACTLY_ONCE, true, true"
    })
    void nothingIsLostAndNothingIsReceivedByTwo(QoS qos, boolean stored, boolean membersEnd) {
        for (int seed = 0; seed < HISTORIES; seed++) {
            new History(seed, qos, stored, membersEnd).run();
        }
    }

    /** A client, and all the connections that it has had. */
    private static final class Member {

        private final String id;
        private final long expirySeconds;
        private final List<RecordingSink> sinks = new ArrayList<>();
        private SessionBench.@Nullable Outcome outcome;
        private @Nullable Session subscribed;

        Member(String id, long expirySeconds) {
            this.id = id;
            this.expirySeconds = expirySeconds;
        }

        Set<String> received() {
            Set<String> texts = new HashSet<>();
            sinks.forEach(sink -> texts.addAll(sink.texts()));
            return texts;
        }
    }

    private static final class History {

        private final int seed;
        private final Random random;
        private final QoS qos;
        private final boolean membersEnd;
        private final @Nullable ManualStore store;
        private final SessionBench bench;
        private final List<Member> members = new ArrayList<>();
        private final List<String> published = new ArrayList<>();
        private final Map<RecordingSink, Integer> acknowledged = new IdentityHashMap<>();
        private final Map<RecordingSink, Integer> completed = new IdentityHashMap<>();

        History(int seed, QoS qos, boolean stored, boolean membersEnd) {
            this.seed = seed;
            this.random = new Random(seed);
            this.qos = qos;
            this.membersEnd = membersEnd;
            this.store = stored ? new ManualStore(() -> 0) : null;
            this.bench = new SessionBench(
                    LOOPS, LimitsConfig.builder().maxQueuedMessages(100_000).build(), SessionConfig.defaults(), store);
            for (int i = 0; i < MEMBERS; i++) {
                members.add(new Member("c" + i, stored && i == MEMBERS - 1 ? 0 : 1_000)); // the last one is not stored
            }
        }

        void run() {
            bench.registry.recover();
            for (int i = 0; i < STEPS; i++) {
                step();
                for (int passes = random.nextInt(4); passes > 0; passes--) {
                    bench.executors.get(random.nextInt(LOOPS)).runTasks(1 + random.nextInt(3));
                }
                members.forEach(this::subscribe);
            }
            finish();
            check();
        }

        private void step() {
            Member member = members.get(random.nextInt(MEMBERS));
            switch (random.nextInt(12)) {
                case 0, 1 -> connect(member, 1 + random.nextInt(6));
                case 2 -> onLoop(member, this::disconnect);
                case 3, 4, 5 -> {
                    int most = 1 + random.nextInt(4);
                    onLoop(member, (session, sink) -> acknowledge(session, sink, most));
                }
                case 6, 7, 8 -> publish();
                case 9 -> holdOrRelease();
                case 10 -> {
                    if (store != null) {
                        store.commitOne();
                    }
                }
                default -> {
                    if (membersEnd && member != members.get(0)) { // with whom the group lives on
                        onLoop(member, (session, sink) -> session.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
                    }
                }
            }
        }

        private void holdOrRelease() {
            if (store != null && random.nextBoolean()) {
                store.hold();
            } else if (store != null) {
                store.release();
            }
        }

        private void connect(Member member, int sendMaximum) {
            RecordingSink sink = new RecordingSink();
            sink.sendMaximum = sendMaximum;
            member.sinks.add(sink);
            int loop = random.nextInt(LOOPS);
            SessionBench.Outcome outcome = new SessionBench.Outcome();
            member.outcome = outcome;
            SessionRequest request = new SessionRequest(
                    SessionBench.client(member.id, null),
                    false,
                    member.expirySeconds,
                    null,
                    sink,
                    bench.loop(loop),
                    outcome);
            bench.executors.get(loop).execute(() -> bench.registry.open(request));
        }

        private void subscribe(Member member) {
            Session session = member.outcome == null ? null : member.outcome.session;
            if (session != null && session != member.subscribed) {
                member.subscribed = session;
                session.execute(() -> {
                    if (!session.hasEnded()) {
                        SessionBench.subscribe(session, FILTER, QoS.EXACTLY_ONCE);
                    }
                });
            }
        }

        private void publish() {
            Session first = members.get(0).subscribed;
            if (first == null || first.subscriptions().size() == 0) {
                return;
            }
            for (int i = 1 + random.nextInt(4); i > 0; i--) {
                String text = "x" + published.size();
                int loop = random.nextInt(LOOPS);
                published.add(text);
                bench.executors.get(loop).execute(() -> bench.publish(loop, "t", text, qos));
            }
        }

        private interface Action {
            void run(Session session, RecordingSink sink);
        }

        private static void onLoop(Member member, Action action) {
            Session session = member.subscribed;
            if (session != null) {
                session.execute(() -> {
                    if (!session.hasEnded() && session.sink() instanceof RecordingSink sink) {
                        action.run(session, sink);
                    }
                });
            }
        }

        private void disconnect(Session session, RecordingSink sink) {
            session.connectionEnded(sink, false, -1);
        }

        private void acknowledge(Session session, RecordingSink sink, int most) {
            int at = acknowledged.getOrDefault(sink, 0);
            int end = Math.min(sink.sent.size(), at + most);
            for (; at < end; at++) {
                RecordingSink.Sent sent = sink.sent.get(at);
                if (sent.qos() == QoS.AT_LEAST_ONCE) {
                    session.onPubAck(sent.packetId(), ReasonCode.SUCCESS);
                } else {
                    session.onPubRec(sent.packetId(), ReasonCode.SUCCESS);
                }
            }
            acknowledged.put(sink, at);
            int done = completed.getOrDefault(sink, 0);
            for (; done < sink.released.size(); done++) {
                session.onPubComp(sink.released.get(done));
            }
            completed.put(sink, done);
        }

        /** One member comes and takes all that waits; the others go. */
        private void finish() {
            if (store != null) {
                store.release();
            }
            bench.run();
            Member last = members.get(0);
            connect(last, 50);
            bench.run();
            subscribe(last);
            bench.run();
            members.stream().skip(1).forEach(member -> onLoop(member, this::disconnect));
            bench.run();
            RecordingSink sink = last.sinks.get(last.sinks.size() - 1);
            int before = -1;
            while (before != progress(sink)) {
                before = progress(sink);
                onLoop(last, (session, current) -> acknowledge(session, current, 100));
                bench.run();
            }
        }

        private int progress(RecordingSink sink) {
            int answered = acknowledged.getOrDefault(sink, 0) + completed.getOrDefault(sink, 0);
            return sink.sent.size() + sink.released.size() + answered;
        }

        private void check() {
            Map<String, Set<String>> receivers = new HashMap<>();
            members.forEach(member -> member.received()
                    .forEach(text -> receivers
                            .computeIfAbsent(text, key -> new HashSet<>())
                            .add(member.id)));
            int dropped = bench.observer.dropped.values().stream()
                    .mapToInt(Integer::intValue)
                    .sum();
            assertThat(published.size() - receivers.size())
                    .as("lost in history %d", seed)
                    .isLessThanOrEqualTo(dropped);
            if (!membersEnd) {
                assertThat(dropped).as("dropped in history %d", seed).isZero();
            }
            if (qos == QoS.EXACTLY_ONCE) {
                Stream<Set<String>> several = receivers.values().stream().filter(ids -> ids.size() > 1);
                assertThat(several).as("received by two in history %d", seed).isEmpty();
            }
            assertThat(bench.registry.queuedForGroups())
                    .as("waiting in history %d", seed)
                    .isZero();
            assertThat(bench.observer.cameAbout())
                    .as("account of history %d", seed)
                    .isEqualTo(bench.observer.ended());
            if (store != null && qos == QoS.AT_LEAST_ONCE) {
                assertThat(store.messages(GROUP)).as("rows of history %d", seed).isEmpty();
            }
        }
    }
}
